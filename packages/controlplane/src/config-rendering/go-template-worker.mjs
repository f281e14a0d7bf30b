// Worker thread: renders one batch of Go templates per message in a fresh WASM instance. Plain JavaScript, because a
// worker does not inherit the loader that runs our TypeScript.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';
import { parentPort } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';

const module = new WebAssembly.Module(gunzipSync(readFileSync(new URL('./go-template.wasm.gz', import.meta.url))));

parentPort.on('message', (requests) => parentPort.postMessage(renderAll(requests)));
parentPort.postMessage('ready');

/** One JSON line in and out per template; standard input and output are buffers, not files. */
function renderAll(requests) {
  const input = Buffer.from(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const output = [];
  const errors = [];
  const wasi = new WASI({ version: 'preview1', args: ['go-template'], env: {}, returnOnExit: true });
  let read = 0;
  let memory;
  const parts = (list, count) => {
    const view = new DataView(memory.buffer);
    return Array.from({ length: count }, (_, index) =>
      Buffer.from(memory.buffer, view.getUint32(list + index * 8, true), view.getUint32(list + index * 8 + 4, true)),
    );
  };
  const imports = {
    ...wasi.wasiImport,
    fd_read(fd, list, count, sizeAt) {
      if (fd !== 0) return wasi.wasiImport.fd_read(fd, list, count, sizeAt);
      let size = 0;
      for (const part of parts(list, count)) size += input.copy(part, 0, read + size, read + size + part.length);
      read += size;
      new DataView(memory.buffer).setUint32(sizeAt, size, true);
      return 0;
    },
    fd_write(fd, list, count, sizeAt) {
      if (fd !== 1 && fd !== 2) return wasi.wasiImport.fd_write(fd, list, count, sizeAt);
      let size = 0;
      for (const part of parts(list, count)) {
        (fd === 1 ? output : errors).push(Buffer.from(part));
        size += part.length;
      }
      new DataView(memory.buffer).setUint32(sizeAt, size, true);
      return 0;
    },
  };
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  memory = instance.exports.memory;
  const code = wasi.start(instance);
  if (code !== 0) throw new Error(`go-template ended with ${code}: ${Buffer.concat(errors).toString('utf8')}`);
  return Buffer.concat(output)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
