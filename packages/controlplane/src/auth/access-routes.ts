import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/database.ts';
import { apiKeyRoutes } from './api-key-routes.ts';
import { scopeGrantRoutes } from './scope-grant-routes.ts';

/** Who may call: API keys, and what is granted to people with a JWT. */
export function accessRoutes(db: Database): (api: FastifyInstance) => void {
  return (api) => {
    apiKeyRoutes(db)(api);
    scopeGrantRoutes(db)(api);
  };
}
