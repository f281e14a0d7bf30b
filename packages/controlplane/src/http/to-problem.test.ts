import { FileFormatError } from '@hoodcloud/contracts/files/yaml-file';
import { DomainError, IllegalTransitionError } from '@hoodcloud/domain/errors';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { RolloutActiveError, RolloutRulesError } from '../rollouts/rollout-errors.ts';
import { ProblemError } from './problem-error.ts';
import { toProblem } from './to-problem.ts';

function databaseError(code: string, constraint?: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('secret detail', 1, 'error'), { code, constraint });
}

describe('toProblem', () => {
  it.each<[string, unknown, number, string]>([
    ['a refusal of a route', new ProblemError(404, 'node_not_found', 'There is no node x.'), 404, 'node_not_found'],
    ['an illegal edge', new IllegalTransitionError('rollout', 'completed', 'paused', []), 409, 'illegal_transition'],
    ['a taken chain', new RolloutActiveError('c', null), 409, 'rollout_active'],
    ['another rule of the domain', new DomainError('template', 'no variable'), 422, 'template'],
    ['a wrong file', new FileFormatError(['a.yaml:1:1: no']), 422, 'file_format'],
    ['a taken name', databaseError('23505', 'nodes_name_key'), 409, 'node_name_taken'],
    ['a race for a chain', databaseError('23505', 'one_active_rollout_per_chain'), 409, 'rollout_active'],
    ['an unforeseen identity', databaseError('23505', 'other'), 409, 'conflict'],
    ['a database that shuts down', databaseError('57P01'), 503, 'database_unavailable'],
    ['a database that is away', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 503, 'database_unavailable'],
    ['what nobody foresaw', new Error('secret detail'), 500, 'internal_error'],
    ['what is no error', 'secret detail', 500, 'internal_error'],
  ])('answers %s with its status and code, and nothing of the inside', (_, error, status, code) => {
    const problem = toProblem(error);
    expect(problem).toMatchObject({ status, code, type: `urn:hoodcloud:problem:${code}` });
    expect(JSON.stringify(problem)).not.toContain('secret detail');
  });

  it('names every broken rule', () => {
    const errors = [{ field: 'strategy', code: 'canary_required', message: 'no', rule: 7 }];
    expect(toProblem(new RolloutRulesError(errors)).errors).toEqual(errors);
  });
});
