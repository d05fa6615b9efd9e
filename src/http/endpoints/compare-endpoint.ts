import { z } from 'zod'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { SideReference } from '../../versioning/merge/merge-side.ts'
import { findSide, revisionOfSide } from '../../versioning/merge/merge-side.ts'
import { compareSides } from '../../versioning/merge/compare-sides.ts'
import type { RevisionLocation } from '../../versioning/revisions/revision.ts'
import { readListedRevision } from '../../versioning/revisions/revision.ts'
import { presentShort } from '../presenters/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'
import { envelope } from '../schemas/envelope.ts'
import { side } from '../revisions/merge-fields.ts'
import { documentDiff, pageInfo, rowDiff, shortRevision } from '../schemas/record-schemas.ts'
import { pageWindowing } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

const MAX_REVISIONS_PER_SIDE = 1000

/** `POST …/variants/compare` of a surface: how far two sides have gone since they parted, and what one changed since then (interface 6.4). */
export function compareEndpoint({ surface, present }: SurfaceContext): Endpoint {
  const { family, path, plural, payload } = surface
  const isRows = payload === 'rows'
  return endpoint({
    method: 'POST',
    path: `/${path}/variants/compare`,
    tag: plural,
    summary: 'How far two sides have gone since they parted, and what the head changed since then',
    scope: 'read',
    input: envelope({
      base: { names: ['base'], schema: side, required: true },
      head: { names: ['head'], schema: side, required: true },
      windowing: { names: ['windowing'], schema: pageWindowing },
    }),
    output: z.strictObject({
      count: z.literal(1),
      compare: z.strictObject({
        merge_base: shortRevision.nullable(),
        ahead: z.int().min(0),
        behind: z.int().min(0),
        ahead_revisions: z.array(shortRevision),
        behind_revisions: z.array(shortRevision),
        truncated: z.literal(true).optional(),
        diff: isRows ? rowDiff : documentDiff,
      }),
      ...(isRows ? { windowing: pageInfo.optional() } : {}),
    }),
    example: {
      base: { variant: { slug: 'support-bot' } },
      head: { variant: { slug: 'support-bot-warm' } },
    },
    run: async ({ registry, input, untilGone }) => {
      const placeOf = async (reference: SideReference): Promise<RevisionLocation> =>
        revisionOfSide(registry, family, await findSide(registry, family, reference, surface))
      const shown = (places: readonly RevisionLocation[]): Promise<object[]> =>
        new TimeSlice(untilGone()).map(places.slice(0, MAX_REVISIONS_PER_SIDE), (place) => shortOf(place))
      const shortOf = async (place: RevisionLocation): Promise<object> =>
        presentShort(await readListedRevision(place), present)
      const [base, head] = [await placeOf(input.base), await placeOf(input.head)]
      const asked = { windowing: input.windowing, signal: untilGone() }
      const compared = await compareSides(base, head, asked)
      const { ahead, behind, diff, windowing } = compared
      return {
        body: {
          count: 1,
          compare: {
            merge_base: compared.base ? await shortOf(compared.base) : null,
            ahead: ahead.length,
            behind: behind.length,
            ahead_revisions: await shown(ahead),
            behind_revisions: await shown(behind),
            ...(Math.max(ahead.length, behind.length) > MAX_REVISIONS_PER_SIDE && { truncated: true }),
            diff,
          },
          windowing,
        },
      }
    },
  })
}
