import type { RolloutGroupControlKind } from '@hoodcloud/domain/rollout-group-control';

/** What each control of a group does, before it is done (C2, C6). */
export const GROUP_CONTROL_WORDS: Readonly<
  Record<RolloutGroupControlKind, { readonly button: string; readonly consequence: string }>
> = {
  start: {
    button: 'Start',
    consequence: 'The first component begins to be upgraded; the others follow in their order.',
  },
  pause: { button: 'Pause', consequence: 'No further node begins in any component; those under way will end first.' },
  resume: { button: 'Resume', consequence: 'The group goes on where it stands; failures so far count as known.' },
  cancel: {
    button: 'Cancel group',
    consequence: 'It ends for good. Nodes under way will end first; what was upgraded keeps the new version.',
  },
  rollback: {
    button: 'Roll back',
    consequence:
      'Every upgraded component gets its previous version back, in reverse order, each node with a stop and a start.',
  },
  skip: {
    button: 'Skip component',
    consequence: 'The component the group stands at is left out; the next one begins.',
  },
};
