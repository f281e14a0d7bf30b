// Whether the role in this container can work: `node ready.mjs [PORT]`. Without a PORT both are tried, 9091 and the API's 8080.
const ports = process.argv.length > 2 ? process.argv.slice(2) : ['9091', '8080'];
const answers = await Promise.allSettled(ports.map((port) => fetch(`http://127.0.0.1:${port}/readyz`)));
process.exitCode = answers.some(({ value }) => value?.ok) ? 0 : 1;
