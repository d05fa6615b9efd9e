import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { rowOfDedupId, rowsBefore, testcaseId, asStored } from '../../registry/testsets.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { resolveReference, readRevisionAt } from '../../registry/revisions.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { envelope, spellings } from '../schemas/spellings.ts'
import { single } from '../schemas/record-schemas.ts'
import { reference, uuid } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

const place = z.strictObject({
  dedup_id: z.string(),
  testcase_id: uuid,
  offset: z.int().min(0).meta({ description: 'How many rows of the revision stand before it.' }),
})

/**
 * `POST /testsets/rows/find`: the position of a row in a revision, so that a client can request a page from
 * there.
 */
export function findRowEndpoint({ surface, names }: SurfaceContext): Endpoint {
  const { family, path, singular, plural } = surface
  return endpoint({
    method: 'POST',
    path: `/${path}/rows/find`,
    tag: plural,
    summary:
      'Where the row of a dedup id stands in a revision: the `windowing.offset` of a page that begins with it',
    scope: 'read',
    input: envelope({
      artifact: { names: spellings(names, '_ref'), schema: reference },
      variant: { names: spellings(names, '_variant_ref'), schema: reference },
      revision: { names: spellings(names, '_revision_ref'), schema: reference },
      dedupId: { names: ['dedup_id'], schema: z.string().min(1, 'must not be empty'), required: true },
    }),
    output: single('row', place),
    example: { [`${singular}_ref`]: { slug: 'capitals' }, dedup_id: '3f1c09b2a4de' },
    run: async ({ registry, input, untilGone }) => {
      const { artifact: artifactRef, variant, revision, dedupId } = input
      const slice = new TimeSlice(untilGone())
      const at = await resolveReference(registry, family, { artifact: artifactRef, variant, revision })
      const { stored, artifact, version } = await readRevisionAt(at)
      const { objects } = artifact.repository
      const tree = stored.payload && asStored(stored.payload).tree
      const row = await rowOfDedupId(artifact.repository, tree, dedupId, slice)
      if (!row)
        throw new Refusal(
          'testcase_not_found',
          `Version ${version} of ${at.variant.slug} has no row with the dedup id ${JSON.stringify(dedupId)}; POST /${path}/rows/history says which versions had it.`,
        )
      const offset = await rowsBefore(objects, tree, row.position, slice)
      return {
        body: { count: 1, row: { dedup_id: dedupId, testcase_id: testcaseId(row.oid, artifact.id), offset } },
      }
    },
  })
}
