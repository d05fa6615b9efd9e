import { z } from 'zod'
import type { Resolution, RestResolution, SideReference } from '../../registry/merge.ts'
import { declare } from '../routing/known-fields.ts'
import { parent } from '../schemas/spellings.ts'
import { shortRevision } from '../schemas/record-schemas.ts'
import { anyJson, deploymentKey, reference } from '../schemas/request-schemas.ts'

/** Merges, reverts, cherry-picks and comparisons, as requests and answers say them (interface 6.3, 6.5). */

/** One end of a merge or comparison: exactly one of variant, revision and environment. */
export const side: z.ZodType<SideReference> = z
  .object({
    variant: parent.optional(),
    artifact: parent.optional(),
    revision: reference.optional(),
    environment: parent.optional(),
    key: deploymentKey.optional(),
  })
  .check((context) => {
    const { variant, artifact, revision, environment, key } = context.value
    const named = [variant, revision, environment].filter((it) => it !== undefined)
    const problem = (message: string): void => {
      context.issues.push({ code: 'custom', input: context.value, message, params: { type: 'invalid_side' } })
    }
    if (named.length !== 1)
      problem('names one thing: {"variant": …}, {"revision": …} or {"environment": …}, with an id or a slug')
    if (artifact && !variant) problem('has an artifact; that stands beside a variant only')
    if (key !== undefined && !environment) problem('has a key; that stands beside an environment only')
  })
  .meta({
    description:
      '{variant, artifact?}: its latest revision; {revision}: that one; {environment, key?}: what runs there.',
  })

/** The side that is written to. */
export const targetSide = side
  .refine(
    ({ variant }) => variant !== undefined,
    'must be a variant: {"variant": {"id"}} or {"variant": {"slug"}}',
  )
  .meta({ description: '{variant, artifact?}: the variant that is written to.' })

const text = z.string()

const place = z.union([
  text.meta({ description: 'A JSON Pointer into data.' }),
  z.strictObject({ row: text, column: text.optional() }),
  z.strictObject({ file: text }),
  z.strictObject({ header: text }),
  z.strictObject({ order: z.literal('rows') }),
])

/** How one conflict is to end, or all that are left. */
const resolution = declare(
  z
    .object({
      place: place.optional(),
      in: z.literal('source').optional(),
      take: z.enum(['target', 'source', 'base']).optional(),
      value: anyJson.optional(),
      remove: z.literal(true).optional(),
      all: z.enum(['target', 'source']).optional(),
    })
    .check((context) => {
      const { all, place, in: side, ...ends } = context.value
      const problem = (message: string): void => {
        const params = { type: 'invalid_resolution' }
        context.issues.push({ code: 'custom', input: context.value, message, params })
      }
      const count = Object.values(ends).filter((it) => it !== undefined).length
      if (all !== undefined) {
        if (place !== undefined || side !== undefined || count > 0)
          problem('has "all", which stands alone: {"all": "target"} or {"all": "source"}')
      } else if (place === undefined)
        problem('needs a "place", or says {"all": "target"} or {"all": "source"}')
      else if (count !== 1) problem('says one thing: "take", "value" or "remove": true')
    }),
  {},
)

const MAX_RESOLUTIONS = 10_000

export const resolutions = z
  .array(resolution)
  .max(MAX_RESOLUTIONS, `must be at most ${MAX_RESOLUTIONS}`)
  .refine(
    (list) => list.slice(0, -1).every(({ all }) => all === undefined),
    'have "all" in an entry that is not the last one; it takes a side of what all others leave, so put it at the end',
  ) as unknown as z.ZodType<readonly (Resolution | RestResolution)[]> // each has a place or `all`: see the checks

const conflict = z.strictObject({
  place,
  in: z.literal('source').optional(),
  kind: z.enum(['both_changed', 'changed_and_removed', 'both_added', 'order']),
  base: anyJson.optional(),
  target: anyJson.optional(),
  source: anyJson.optional(),
  // Of a text: its lines, with git's diff3 marks where both sides changed the same.
  marked: text.optional(),
})

/** What was done, or would be. */
export const mergeOutcome = z.strictObject({
  kind: z.enum(['up_to_date', 'fast_forward', 'merge', 'revert', 'cherry_pick', 'restore']),
  // What the sides came from; null where that is several things, none, or no revision.
  base: shortRevision.nullable(),
  // Those left open, of a dry run.
  conflicts: z.array(conflict),
  resolved: z.int().min(0),
  truncated: z.literal(true).optional(),
  // Of open conflicts, where not all are listed.
  total: z.int().min(1).optional(),
})
