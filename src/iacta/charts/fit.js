// Draws a chart as wide as the room that it has: on iacta's pages, and in the pages that it saves.

const LEAST = 160; // no plot is narrower
const MARGIN = 110; // the usual room of axes and padding beside the plot
const NARROW = 480; // narrower places have smaller letters in their titles

/**
 * Draw a Vega-Lite specification into an element, and return the sizes that fit.
 *
 * config: of Vega-Lite, which is changed. room: pixels. sizes: `width`, of a plot at most; `narrow`,
 * of one that has a narrow form; `padding`, left and right. slack: how much room may remain.
 * fitted: what this has returned before, for the same room. isLate: whether another drawing has
 * begun; then nothing is returned.
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
  // How much room the labels beside the plot take is known only once they are drawn.
  for (let round = 0; round < 3; ++round) {
    config.view.continuousWidth = config.view.discreteWidth = width = Math.max(LEAST, width);
    // Maps have two sizes, for which the places of their labels are computed.
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
    if (words > room - padding) {
      config.title.fontSize *= (room - padding) / words;
      config.title.subtitleFontSize *= (room - padding) / words;
    }
    width = Math.min(widest, width - excess);
  }
  const { fontSize, subtitleFontSize } = config.title;
  return { room, width, title: { fontSize, subtitleFontSize } };
}
