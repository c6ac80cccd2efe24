/* Makes the search work on pages that are opened from files. Browsers start no workers for files, so
   the worker's script runs in a hidden frame instead, and messages pass between the two windows as
   events. */

class FrameWorker extends EventTarget {
  constructor(address) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.frame.srcdoc = "<!doctype html><title>search</title>";
    this.ready = new Promise((resolve) => {
      this.frame.addEventListener("load", () => resolve(this.start(address)), { once: true });
    });
    document.documentElement.append(this.frame);
  }

  start(address) {
    const inside = this.frame.contentWindow;
    const run = (each) =>
      new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = new URL(each, document.baseURI);
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${each} cannot be read`));
        inside.document.head.append(script);
      });
    inside.postMessage = (data) => this.tell(this, data);
    inside.importScripts = async (...addresses) => {
      for (const each of addresses) await run(each);
    };
    return run(address).then(() => inside);
  }

  tell(target, data) {
    setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data })));
  }

  postMessage(data) {
    this.ready.then((inside) => this.tell(inside, data));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") {
  window.Worker = FrameWorker;
  window.IFrameWorker = FrameWorker; // the search looks for this name
}
