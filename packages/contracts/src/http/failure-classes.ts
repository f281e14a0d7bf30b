import { z } from 'zod';

const borne = z.number().int().min(0).max(100_000);

/** How many failures of each class a rollout bears (`FailureClassLimits` of domain/failure-class.ts). */
export const failureClassesSchema = z
  .strictObject({
    /** The release can't be downloaded, checked or started dry: one is enough to know. */
    artifact: borne.default(0),
    /** Agent, disk, network, deadline: no evidence about the release. */
    infrastructure: borne.default(3),
    /** An undo failed: a person must look. */
    state: borne.default(0),
  })
  .meta({ id: 'FailureClasses' });
