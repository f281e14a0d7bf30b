import { readFileSync } from 'node:fs';
import type { ImageConfig, TestImage } from './image-push.ts';
import { tarArchive } from './tar-archive.ts';

const COMMANDS =
  'sh cat cut dd df echo env grep hostname httpd id ip kill ls mkdir mount ps readlink rm sed sleep sort stat sync tail test touch tr wget'.split(
    ' ',
  );

export interface ServiceVersion {
  /** Answered by `http://…:8080/version` and logged at the start. */
  readonly version: string;
  /** It says what is wrong and ends with 3 as soon as it starts. */
  readonly crash?: boolean;
  /** Laid over the image's own configuration. */
  readonly config?: ImageConfig;
  readonly architecture?: string;
}

/**
 * A small real service in an image: busybox and one script. It logs `app VERSION starts`, serves its version on `PORT`
 * (8080), and on TERM or INT logs `app VERSION stops` and ends with 0 after `STOP_SECONDS` (0).
 * Settings by environment: `MODE=crash` as `crash`, `START_SECONDS` before it serves.
 */
export function serviceImage({ version, crash = false, config, architecture }: ServiceVersion): TestImage {
  return {
    layers: [baseLayer(), serviceLayer(version, crash)],
    config: { Cmd: ['/bin/app'], Env: ['PATH=/bin'], ExposedPorts: { '8080/tcp': {} }, ...config },
    ...(architecture === undefined ? {} : { architecture }),
  };
}

let base: Buffer | undefined;

function baseLayer(): Buffer {
  base ??= tarArchive([
    { name: 'bin/', content: 'folder' },
    { name: 'tmp/', mode: 0o1777, content: 'folder' },
    { name: 'etc/', content: 'folder' },
    { name: 'etc/passwd', mode: 0o644, content: { file: 'root:x:0:0::/:/bin/sh\napp:x:1000:1000::/:/bin/sh\n' } },
    { name: 'etc/group', mode: 0o644, content: { file: 'root:x:0:\napp:x:1000:\nextra:x:2000:\n' } },
    { name: 'bin/busybox', content: { file: readFileSync('/usr/bin/busybox') } },
    ...COMMANDS.map((name) => ({ name: `bin/${name}`, content: { link: 'busybox' } })),
  ]);
  return base;
}

/** PID 1 of a container has no default action for TERM: without the trap a stop takes its whole limit and ends in 137. */
function serviceLayer(version: string, crash: boolean): Buffer {
  const script = `#!/bin/sh
if [ "$MODE" = crash ] || ${crash}; then echo "app ${version}: Error: cannot open database: version mismatch" >&2; exit 3; fi
stopping() { echo "app ${version} stops"; [ -z "$httpd" ] || kill $httpd; sleep "\${STOP_SECONDS:-0}"; exit 0; }
trap stopping TERM INT
echo "app ${version} starts"
sleep "\${START_SECONDS:-0}"
httpd -f -p "\${PORT:-8080}" -h /www & httpd=$!
wait $httpd
`;
  return tarArchive([
    { name: 'www/', content: 'folder' },
    { name: 'www/version', mode: 0o644, content: { file: `${version}\n` } },
    { name: 'bin/app', content: { file: script } },
  ]);
}
