// Search on a page that is opened from a disk, where browsers refuse a file as a worker: its script runs in a hidden frame. The theme's worker looks for the name.
"use strict";
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.worker = this;
      frame.srcdoc =
        `<script>postMessage = (data) => frameElement.worker.dispatchEvent(new parent.MessageEvent("message", { data }))</script>` +
        `<script src="${script}"></script>`;
      frame.addEventListener("load", () => {
        this.port = frame.contentWindow;
        this.waiting.forEach((data) => this.postMessage(data));
      });
      document.body.append(frame);
    }
    postMessage(data) {
      if (this.port) this.port.dispatchEvent(new this.port.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
