import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { JsonStream } from '../../base/json.ts'
import {
  writeRows,
  everyTestcase,
  type TestcaseGroup,
  findTestcase,
  findTestcases,
  presentTestcaseAlone,
  writeTestcases,
  rowPage,
  cutIds,
  cutTestcases,
  pageOf,
  asStored,
} from '../../registry/testsets.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { Windowing, References } from '../../registry/registries.ts'
import { artifactById, resolveReference, readRevisionAt } from '../../registry/revisions.ts'
import { saidTrashed } from '../../registry/artifacts.ts'
import { type Call, type Endpoint, type EndpointResponse, endpoint } from '../routing/endpoint.ts'
import { envelope, spellings } from '../schemas/spellings.ts'
import { queryIds } from '../schemas/queries/query-parameters.ts'
import { pageInfo, single, testcase } from '../schemas/record-schemas.ts'
import { pageWindowing, reference, uuid } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

const testcases = z.strictObject({
  count: z.int().min(0),
  testcases: z.array(testcase),
  windowing: pageInfo.optional(),
})

const MAX_TESTCASE_IDS = 10_000

/** Testcases by id, and lists of them; a testcase never changes (interface 8.2). */
export function testcaseEndpoints({ surface, names }: SurfaceContext): Endpoint[] {
  const { family } = surface
  const tag = 'testcases'

  const answerGroups = (
    groups: readonly TestcaseGroup[],
    slice: TimeSlice,
    page: { readonly windowing?: object | undefined } = {},
  ): EndpointResponse => ({
    body: {
      count: groups.reduce((sum, { oids }) => sum + oids.length, 0),
      testcases: new JsonStream(writeTestcases(groups, slice)),
      ...page,
    },
  })

  /** The testcases with these ids, in order; unknown ids are skipped, as in any list (interface 3.5). */
  const byIds = async (
    { registry, untilGone }: Pick<Call<unknown>, 'registry' | 'untilGone'>,
    ids: readonly string[],
    {
      testsetId,
      windowing,
    }: { readonly testsetId?: string | undefined; readonly windowing?: Windowing | undefined },
  ): Promise<EndpointResponse> => {
    const slice = new TimeSlice(untilGone())
    const page = cutIds(ids, windowing)
    const groups = await findTestcases(registry, family, page.ids, slice)
    const wanted = testsetId === undefined ? groups : groups.filter(({ testset }) => testset.id === testsetId)
    return answerGroups(wanted, slice, pageOf(page.next, windowing))
  }

  const everyOf = async (
    { registry, untilGone }: Pick<Call<unknown>, 'registry' | 'untilGone'>,
    testsetId: string,
    windowing: Windowing | undefined,
  ): Promise<EndpointResponse> => {
    const slice = new TimeSlice(untilGone())
    const testset = await artifactById(registry, family, testsetId)
    const page = cutTestcases(await everyTestcase(testset, slice), testset, windowing)
    return answerGroups([{ testset, oids: page.oids }], slice, pageOf(page.next, windowing))
  }

  const rowsOfRevision = async (
    { registry, untilGone }: Pick<Call<unknown>, 'registry' | 'untilGone'>,
    references: References,
    windowing: Windowing | undefined,
  ): Promise<EndpointResponse> => {
    const slice = new TimeSlice(untilGone())
    const place = await resolveReference(registry, family, references)
    const { stored, artifact } = await readRevisionAt(place)
    if (!stored.payload) return { body: { count: 0, testcases: [] } }
    const testset = asStored(stored.payload)
    const source = artifact.repository.objects
    const limit = windowing?.limit ?? Number.POSITIVE_INFINITY
    const page = await rowPage(source, testset, artifact.id, windowing, limit, slice)
    const pieces = writeRows(source, page.rows, artifact.id, testset.columns, slice)
    return {
      body: { count: page.rows.length, testcases: new JsonStream(pieces), windowing: page.windowing },
    }
  }

  return [
    endpoint({
      method: 'GET',
      path: '/testcases',
      tag,
      summary: 'Testcases by id: ?testcase_ids=a,b and ?testcase_id=c, as often as wanted',
      scope: 'read',
      input: z.object({ testcase_ids: z.array(uuid).max(MAX_TESTCASE_IDS).optional() }),
      fromQuery: queryIds('testcase'),
      output: testcases,
      run: async (call) => {
        const { testcase_ids: ids } = call.input
        if (!ids?.length) throw nothingAsked()
        return byIds(call, ids, {})
      },
    }),
    endpoint({
      method: 'POST',
      path: '/testcases/query',
      tag,
      summary: 'Testcases by ids, of a revision, or all that a testset ever had',
      scope: 'read',
      input: envelope({
        ids: { names: ['testcase_ids'], schema: z.array(uuid).max(MAX_TESTCASE_IDS) },
        testsetId: { names: ['testset_id'], schema: uuid },
        artifact: { names: spellings(names, '_ref'), schema: reference },
        variant: { names: spellings(names, '_variant_ref'), schema: reference },
        revision: { names: spellings(names, '_revision_ref'), schema: reference },
        windowing: { names: ['windowing'], schema: pageWindowing },
      }),
      output: testcases,
      example: { testset_revision_ref: { slug: 'capitals', version: 2 }, windowing: { limit: 100 } },
      run: async (call) => {
        const { artifact, variant, revision, ids, testsetId, windowing } = call.input
        if (artifact ?? variant ?? revision)
          return rowsOfRevision(call, { artifact, variant, revision }, windowing)
        if (ids?.length) return byIds(call, ids, { testsetId, windowing })
        if (testsetId === undefined) throw nothingAsked()
        return everyOf(call, testsetId, windowing)
      },
    }),
    endpoint({
      method: 'GET',
      path: '/testcases/:id',
      tag,
      summary: 'The testcase of this id, for ever the same',
      scope: 'read',
      output: single('testcase', testcase),
      run: async ({ registry, params }) => {
        const id = params['id'] ?? ''
        const found = await findTestcase(registry, family, id)
        if (!found) {
          const refusal = new Refusal('testcase_not_found', `There is no testcase with the id ${id}.`)
          throw saidTrashed(refusal, await registry.trash.withDigits(id))
        }
        return { body: { count: 1, testcase: await presentTestcaseAlone(found) } }
      },
    }),
  ]
}

function nothingAsked(): Refusal {
  return new Refusal(
    'incomplete_reference',
    'Say which testcases: send testcase_ids, testset_id, or a reference to a testset, variant or revision.',
  )
}
