// One test of NDT7 (m-lab/ndt-server, spec/ndt7-protocol.md v0.11.0) in a worker: what a page draws takes no time from it.
// Asked by { address, upload } or { cancel }; says { bytes, ms, run } four times a second, and { over: true, opened, code, ... } at the end.
const PROTOCOL = "net.measurementlab.ndt.v7", LENGTH_MS = 10000, LONGEST_MS = 13000, SAY_MS = 250, SMALLEST = 2 ** 13, LARGEST = 2 ** 20;
// A page may close with 1000 and 3000 to 4999 alone; the server knows this one for a test that was cancelled.
const CANCELLED = 4000;
let socket = null;
// What does not compress.
function noise(size) {
  const made = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) crypto.getRandomValues(made.subarray(at, Math.min(at + 65536, size)));
  return made;
}
function test(address, upload) {
  let begun = 0, bytes = 0, received = null, run = null, saying = null, limit = null, opened = false;
  socket = new WebSocket(address, PROTOCOL);
  socket.binaryType = "arraybuffer";
  const elapsed = () => performance.now() - begun;
  // Of an upload only the server knows what has come.
  const now = () => upload ? { bytes: received ? received.NumBytes : 0, ms: received ? received.ElapsedTime / 1e3 : 0, run } : { bytes, ms: elapsed(), run };
  const report = (count) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ AppInfo: { ElapsedTime: Math.round(elapsed() * 1e3), NumBytes: count }, Origin: "client", Test: upload ? "upload" : "download" })); };
  const say = () => { report(upload ? bytes - socket.bufferedAmount : bytes); postMessage({ ...now(), elapsed: elapsed() }); };
  let message = upload ? noise(SMALLEST) : null;
  const fill = () => {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (elapsed() >= LENGTH_MS) { socket.close(1000); return; }
    // As much as a fast line takes until this is called again; what waits here is none of the test's.
    for (let sent = 0; sent < 8 && socket.bufferedAmount < 8 * message.length; sent += 1) {
      if (message.length < LARGEST && message.length < (bytes - socket.bufferedAmount) / 16) message = noise(2 * message.length);
      socket.send(message);
      bytes += message.length;
    }
    setTimeout(fill, 0);
  };
  socket.onopen = () => {
    begun = performance.now();
    opened = true;
    saying = setInterval(say, SAY_MS);
    limit = setTimeout(() => socket.close(1000), LONGEST_MS);
    if (upload) fill();
  };
  socket.onmessage = ({ data }) => {
    if (typeof data !== "string") { bytes += data.byteLength; return; }
    let said = {};
    try { said = JSON.parse(data); } catch { return; }
    run = (said.ConnectionInfo || {}).UUID || run;
    received = said.AppInfo || received;
  };
  socket.onclose = ({ code }) => {
    clearInterval(saying);
    clearTimeout(limit);
    postMessage({ over: true, opened, code, ...now() });
  };
}
onmessage = ({ data: { address, upload, cancel } }) => {
  if (cancel) { if (socket) socket.close(CANCELLED, "cancelled"); } else test(address, upload);
};
