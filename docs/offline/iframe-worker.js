// Search in pages that are opened as files: browsers start no worker there, so its script runs in a hidden frame.
// Messages to and from the frame are the only part of a worker that the search uses.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      const script = document.createElement("script");
      script.src = address;
      const answer = 'postMessage = data => frameElement.dispatchEvent(new MessageEvent("message", {data}))';
      this.frame.srcdoc = `<script>${answer}</script>${script.outerHTML}`;
      this.loaded = new Promise(done => this.frame.addEventListener("load", done));
      this.frame.addEventListener("message", ({data}) => this.dispatchEvent(new MessageEvent("message", {data})));
      document.body.append(this.frame);
    }

    async postMessage(data) {
      await this.loaded;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data}));
    }
  };
}
