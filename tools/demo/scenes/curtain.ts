import type { DemoReport } from '../report/demo-report.ts';
import type { SetStage } from '../stage/stage.ts';

/** Says what was seen from outside. */
export function tellReport({ narrator }: SetStage, report: DemoReport): void {
  const { chain, bad_release, seconds } = report;
  narrator.scene('What processes and chain showed');
  for (const { name, before, after } of report.nodes) {
    narrator.say(`${name}: ${before.version} ${short(before.sha256)} → ${after.version} ${short(after.sha256)}`);
  }
  const pause = (chain.longest_pause_ms / 1000).toFixed(1);
  narrator.say(
    `The chain grew from height ${chain.first_height} to ${chain.last_height}; its longest pause was ${pause} s.`,
  );
  for (const node of bad_release.nodes.filter(({ status }) => status !== 'pending')) {
    narrator.say(
      `The bad release on ${node.name}: ${node.status}, ${node.phase}; it runs ${short(node.running_sha256)}.`,
    );
  }
  narrator.say(`Set-up ${seconds.setup} s, rollout ${seconds.rollout} s, bad release ${seconds.bad_release} s.`);
}

/** Says where everything is, for whoever stays. */
export function tellAddresses({ narrator, controlPlane: { url, apiKey, temporalUi }, folder }: SetStage): void {
  narrator.scene('Everything stays up until Ctrl-C');
  process.stdout.write(`  API          ${url}/api/v1   (OpenAPI: ${url}/openapi.json)
  API key      ${apiKey}
  Temporal UI  ${temporalUi}
  Logs, data   ${folder.path}

  Try it:  export HOODCLOUD_URL=${url} HOODCLOUD_API_KEY=${apiKey}
           npx tsx packages/cli/src/bin/hoodctl.ts rollout list

  npm run demo goes on from what this run leaves; npm run demo -- --reset begins anew.
`);
}

const short = (sha256: string): string => sha256.slice(0, 12);
