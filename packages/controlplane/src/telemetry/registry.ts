import { Registry } from 'prom-client';

/** The process's metrics: an own registry, so that nothing a library registers shows up unasked. */
export const metrics = new Registry();
