import { SECRETS, SETTINGS } from './config-schema.ts';

const HIDDEN: ReadonlySet<string> = new Set(SECRETS);

/**
 * Which settings hold, one a line, and the variables of the environment that look like settings and are none.
 * @param settings what `settingsFrom` put together
 */
export function configSummary(settings: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(SETTINGS.shape);
  const given = names.filter((name) => settings[name] !== undefined);
  const strangers = Object.keys(settings).filter((name) => name.startsWith('HOODCLOUD_') && !names.includes(name));
  return [
    ...given.map((name) => `${name} = ${HIDDEN.has(name) ? '(secret)' : settings[name]}`),
    ...strangers
      .filter((name) => name !== 'HOODCLOUD_CONFIG')
      .map((name) => `${name} is no setting of the control plane: is it spelt right?`),
  ];
}
