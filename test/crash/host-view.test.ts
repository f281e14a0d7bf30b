import { describe, expect, it } from 'vitest';
import { leftoversAmong } from './host-view.ts';

const BACKUP = '/var/lib/app/.upgrade-backup/attempt.1';
const FILE = 'file 600 0:0 0123456789abcdef';

describe('what is left over of an upgrade', () => {
  it('is a temporary file, wherever it lies', () => {
    const temp = '/etc/app/.app.conf.hoodcloud-tmp';
    expect(leftoversAmong([[temp, FILE]])).toEqual([temp]);
  });

  it('is a temporary file in a whole backup', () => {
    const temp = `${BACKUP}/.container.json.hoodcloud-tmp`;
    const lines = [[`${BACKUP}/manifest.json`, FILE] as const, [temp, FILE] as const];
    expect(leftoversAmong(lines)).toEqual([temp]);
  });

  it('is not what a backup that was never finished holds: it goes with it', () => {
    expect(leftoversAmong([[`${BACKUP}/.manifest.json.hoodcloud-tmp`, FILE]])).toEqual([]);
  });
});
