import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleForHost } from '@hoodcloud/testkit/host-lab/bundle-for-host';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { SERVICE } from './small-service.ts';
import type { WatchReport } from './watch-instances.ts';

const PROGRAM = '/opt/hoodcloud/watch.mjs';
const REPORT = '/var/log/watch-report.json';
const UNIT = 'watch-instances.service';

/** Starts a process of its own in the host that looks for two living instances, in this boot and in every later one. */
export async function installWatcher(host: Host): Promise<void> {
  await bundleForHost(host, fileURLToPath(new URL('./watch-instances.ts', import.meta.url)), PROGRAM);
  const unit = `[Unit]
DefaultDependencies=no
[Service]
ExecStart=/usr/bin/env node ${PROGRAM} ${SERVICE.binary} ${REPORT}
Restart=always
RestartSec=0
[Install]
WantedBy=sysinit.target
`;
  await host.writeFile(`/etc/systemd/system/${UNIT}`, unit);
  await host.sh(`systemctl daemon-reload; systemctl enable -q --now ${UNIT}`);
}

/** What the watcher has seen so far. */
export async function watchReport(host: Host): Promise<WatchReport> {
  return JSON.parse(await readFile(join(host.root, REPORT), 'utf8'));
}
