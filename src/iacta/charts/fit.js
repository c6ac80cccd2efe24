// Fits charts to the available width, on iacta's pages and in saved HTML pages.

const MIN_WIDTH = 160;
const MARGIN = 110; // typical width of axes and padding
const NARROW = 480; // below this width, titles use smaller fonts

/**
 * Draw a Vega-Lite specification into an element, and return the sizes that fit.
 *
 * config: the Vega-Lite configuration, which is changed in place.
 * room: the available width in pixels.
 * sizes: the maximum `width` of a plot, the width below which it is `narrow`, and the total
 *   `padding` at its sides.
 * slack: the width that may remain unused.
 * fitted: an earlier result for the same room.
 * isLate: a function that tells whether a newer drawing has begun; the result is then null.
 */
export async function fit(place, spec, config, { room, sizes, slack, options, fitted, isLate }) {
  const { width: widest, narrow, padding } = sizes;
  let width = Math.min(widest, room - MARGIN);
  if (room < NARROW) {
    Object.assign(config.title, { fontSize: 13, subtitleFontSize: 11 });
    config.legend.columns = 2;
  }
  if (fitted?.room === room) {
    width = fitted.width;
    Object.assign(config.title, fitted.title);
  }
  // The width of the labels is known only after drawing.
  for (let round = 0; round < 3; ++round) {
    config.view.continuousWidth = config.view.discreteWidth = width = Math.max(MIN_WIDTH, width);
    // Maps come in two fixed sizes with precomputed label positions.
    const isFixed = spec.usermeta?.narrow?.vconcat;
    const isNarrow = isFixed ? room < widest + padding : width < narrow;
    const form = isNarrow ? { ...spec, ...spec.usermeta?.narrow } : spec;
    await vegaEmbed(place, { ...form, config }, { renderer: "svg", actions: false, ...options });
    if (isLate()) return null;
    const wide = (selector) =>
      Math.max(
        0,
        ...Array.from(
          place.querySelectorAll(selector),
          (part) => part.getBoundingClientRect().width,
        ),
      );
    const words = wide(".role-title-text, .role-title-subtitle");
    const excess = wide("svg") - room;
    if (isFixed || (excess < 1 && (excess > -slack || width >= widest))) break;
    const most = Math.max(room - padding, MIN_WIDTH); // a hidden element has no room
    if (words > most) {
      config.title.fontSize *= most / words;
      config.title.subtitleFontSize *= most / words;
    }
    width = Math.min(widest, width - excess);
  }
  const { fontSize, subtitleFontSize } = config.title;
  return { room, width, title: { fontSize, subtitleFontSize } };
}
