#!/usr/bin/env node
import { scopeSchema } from '@hoodcloud/contracts/http/scopes';
import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { createApiKey } from '../auth/api-keys.ts';
import { grantScope } from '../auth/scope-grants.ts';
import { type Config, ConfigError, readConfig, readDevConfig } from '../config.ts';
import { configReference } from '../config-reference.ts';
import { settingsFrom } from '../config-sources.ts';
import { configSummary } from '../config-summary.ts';
import { type Database, openDatabase, openPool } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { type RoleName, runRole } from '../roles/run-role.ts';
import { processLog } from '../telemetry/process-log.ts';
import { countOwnProcess } from '../telemetry/process-metrics.ts';

const ACTOR = 'system:command-line';

const ROLES: Readonly<Record<RoleName, string>> = {
  api: 'serve the HTTP API',
  gateway: "hold the agents' streams",
  worker: 'run workflows and activities',
  reconciler: 'run the loops: relays, health validation, expiry, cleanup',
};

const program = new Command('hoodcloud')
  .description(
    'The control plane. Settings come from the environment and a file; `hoodcloud config reference` lists them.',
  )
  .option('--config <file>', 'YAML file with settings; the environment wins (HOODCLOUD_CONFIG)')
  .version(manifest.version);

for (const [name, description] of Object.entries(ROLES) as [RoleName, string][]) {
  program
    .command(name)
    .description(description)
    .action(async () => {
      const config = configured();
      const log = processLog(config.logLevel, { role: name, instance: config.instance });
      countOwnProcess();
      await runRole(name, config, log, stopSignal());
    });
}

program
  .command('create-api-key <name>')
  .description('make an API key with scope admin and print it, this once')
  .action((name: string) =>
    withDatabase(async (db) => {
      const { key } = await createApiKey(db, { name, createdBy: ACTOR });
      process.stdout.write(`${key}\n`);
    }),
  );

program
  .command('grant-scope <subject> <scope>')
  .description('grant read, operate or admin to the people whose JWT has this "sub"')
  .action((subject: string, scope: string) =>
    withDatabase(async (db) => {
      await grantScope(db, { subject, scope: scopeSchema.parse(scope), actor: ACTOR });
      process.stdout.write(`${subject} has ${scope}\n`);
    }),
  );

program
  .command('migrate')
  .description('bring the database to the newest schema')
  .action(async () => {
    const { databaseUrl, logLevel, instance } = configured();
    const log = processLog(logLevel, { role: 'migrate', instance });
    const onIdleError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
    const db = openDatabase(openPool(databaseUrl, { max: 1, onIdleError }));
    try {
      const ran = await migrate(db);
      log.info(
        { migrations: ran },
        ran.length === 0 ? 'the schema was newest already' : `${ran.length} migrations ran`,
      );
    } finally {
      await db.destroy();
    }
  });

program
  .command('dev')
  .description('run every role in one process, with Postgres and Temporal as its children')
  .option('--data-dir <folder>', 'where everything is kept between runs')
  .option('--config-dir <folder>', 'chain profiles, templates and upgrade manifests')
  .action(async (flags: { dataDir?: string; configDir?: string }) => {
    const dev = readDevConfig({
      ...process.env,
      ...(flags.dataDir && { HOODCLOUD_DATA_DIR: flags.dataDir }),
      ...(flags.configDir && { HOODCLOUD_CONFIG_DIR: flags.configDir }),
    });
    const { runDev } = await import('../roles/dev-role.ts');
    await runDev(dev, stopSignal());
  });

const config = program.command('config').description('the settings: whether they are right, and which there are');
config
  .command('check')
  .description('read the settings as a role would; exit code 2 names what is wrong')
  .action(() => {
    configured();
    process.stdout.write(`${configSummary(settings()).join('\n')}\nThe settings are right.\n`);
  });
config
  .command('reference')
  .description('print every setting with its default, as Markdown')
  .action(() => void process.stdout.write(configReference()));

function settings(): Record<string, string> {
  return settingsFrom(process.env, program.opts<{ config?: string }>().config);
}

function configured(): Config {
  return readConfig(settings());
}

async function withDatabase(work: (db: Database) => Promise<void>): Promise<void> {
  const { databaseUrl } = configured();
  const onIdleError = (error: Error) => void process.stderr.write(`database: ${error.message}\n`);
  const db = openDatabase(openPool(databaseUrl, { max: 1, onIdleError }));
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}

/** Aborts at SIGTERM and SIGINT; a second one ends the process at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  return controller.signal;
}

try {
  await program.parseAsync();
} catch (error) {
  const message = error instanceof Error ? (error instanceof ConfigError ? error.message : error.stack) : String(error);
  process.stderr.write(`hoodcloud: ${message}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}
