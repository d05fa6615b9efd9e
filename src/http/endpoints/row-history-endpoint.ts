import { z } from 'zod'
import {
  type ChangeOfRow,
  changesOfRow,
  decodeRow,
  inColumnOrder,
  asStored,
} from '../../registry/testsets.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { readBytes } from '../../registry/families.ts'
import { dateOf, type VariantLocation, resolveVariant, readListedRevision } from '../../registry/revisions.ts'
import { type PresentOptions, presentAuthor, presentShort } from '../revisions/record.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { respondWithLargeList } from '../routing/send.ts'
import { envelope, parentsBeside } from '../schemas/spellings.ts'
import { list, historyOfRow } from '../schemas/record-schemas.ts'
import { newestFirstWindowing } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** `POST /testsets/rows/history`: how one row changed along a variant (interface 13.6). */
export function rowHistoryEndpoint({ surface, names, present }: SurfaceContext): Endpoint {
  const { family, path, singular, plural } = surface
  const { artifactRef, variantRef } = parentsBeside(names)
  return endpoint({
    method: 'POST',
    path: `/${path}/rows/history`,
    tag: plural,
    summary: 'How the row of a dedup id changed along a variant, newest first',
    scope: 'read',
    input: envelope({
      artifact: artifactRef,
      variant: { ...variantRef, required: true },
      dedupId: { names: ['dedup_id'], schema: z.string().min(1, 'must not be empty'), required: true },
      windowing: { names: ['windowing'], schema: newestFirstWindowing },
    }),
    output: list('changes', historyOfRow),
    example: { [`${singular}_variant_ref`]: { slug: 'capitals' }, dedup_id: '3f1c09b2a4de' },
    run: async ({ registry, input, untilGone }) => {
      const place = await resolveVariant(registry, family, input.variant, input.artifact)
      const window = await changesOfRow(
        place,
        input.dedupId,
        input.windowing ?? {},
        new TimeSlice(untilGone()),
      )
      return respondWithLargeList('changes', window, input.windowing, (change) =>
        presentChange(place, change, present),
      )
    },
  })
}

async function presentChange(
  { artifact, variant }: VariantLocation,
  { kind, oid, version, row }: ChangeOfRow,
  options: PresentOptions,
): Promise<object> {
  const revision = await readListedRevision({ artifact, variant, oid, version })
  const { commit, payload } = revision.stored
  const bytes = row && (await readBytes(artifact.repository.objects, row.oid, 'blob'))
  const columns = payload ? asStored(payload).columns : []
  return {
    revision: presentShort(revision, options),
    author: presentAuthor(`${commit.author.name} <${commit.author.email}>`, options),
    date: dateOf(revision),
    kind,
    data: bytes && inColumnOrder(decodeRow(bytes), columns),
  }
}
