import { isTimeZone } from '@hoodcloud/domain/time-zone';
import { z } from 'zod';
import { policyScopeSchema } from './policy-scope.ts';

const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 22:00');

/** IANA name, such as Europe/Berlin; an offset is none, since it knows no daylight saving. */
export const timeZoneSchema = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be the IANA name of a time zone, such as Europe/Berlin')
  // a format of our own: no pattern says which names there are
  .meta({ format: 'time-zone' });

const weeklyWindow = {
  /** IANA name, such as Europe/Berlin. */
  time_zone: timeZoneSchema,
  weekly: z
    .array(
      z.strictObject({
        days: z.array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])).min(1),
        from: clock,
        /** Not after `from`: on the next day. */
        to: clock,
      }),
    )
    .min(1)
    .max(50),
  /** Nothing starts when less than so much is left of the window. */
  min_left_minutes: z.number().int().min(0).max(1440).default(0),
};

/** Times of the week, by the clock of a time zone (`WeeklyWindow` of domain/weekly-window.ts). */
export const weeklyWindowSchema = z.strictObject(weeklyWindow).meta({ id: 'WeeklyWindow' });

/** When nodes of a scope may be started: in one of these times of the week. */
export const maintenanceWindowSchema = z
  .strictObject({ scope: policyScopeSchema.default({}), ...weeklyWindow })
  .meta({ id: 'MaintenanceWindow' });
export type MaintenanceWindow = z.infer<typeof maintenanceWindowSchema>;
