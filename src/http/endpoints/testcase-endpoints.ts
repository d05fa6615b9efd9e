import { z } from 'zod'
import { invalid, Refusal } from '../../errors.ts'
import { findTestcase, presentTestcaseAlone } from '../../resources/testsets/find-testcases.ts'
import { everyTestcase } from '../../resources/testsets/every-testcase.ts'
import { rowPage } from '../../resources/testsets/row-page.ts'
import { withBytes } from '../../resources/testsets/stored-rows.ts'
import { presentTestcase } from '../../resources/testsets/testcase.ts'
import { asStored } from '../../resources/testsets/testset-payload.ts'
import { parseUuid } from '../../versioning/ids.ts'
import type { References } from '../../versioning/references.ts'
import { artifactById } from '../../versioning/references.ts'
import type { Registry } from '../../versioning/registry.ts'
import { resolveRevision } from '../../versioning/resolve-revision.ts'
import { readRevisionAt } from '../../versioning/revision.ts'
import type { Windowing } from '../../versioning/windowing.ts'
import type { Endpoint } from '../endpoint.ts'
import { endpoint } from '../endpoint.ts'
import { envelope } from '../envelope.ts'
import { queryIds } from '../query-parameters.ts'
import { pageInfo, single, testcase } from '../record-schemas.ts'
import { pageWindowing, reference, uuid } from '../request-schemas.ts'
import { spellings } from '../surface-names.ts'
import type { SurfaceContext } from '../surface-context.ts'

const testcases = z.strictObject({
  count: z.int().min(0),
  testcases: z.array(testcase),
  windowing: pageInfo.optional(),
})

/** So many ids may be asked for at once. */
const MANY = 10_000

/** Testcases by their ids, and lists of them; there is nothing to change about one (interface 3.4, contract/testsets 1.5). */
export function testcaseEndpoints({ surface, names }: SurfaceContext): Endpoint[] {
  const { family } = surface
  const tag = 'testcases'

  /** The testcases of these ids, in order; unknown ones are left out, as in any list (ruling 1.4). */
  const byIds = async (registry: Registry, ids: readonly string[], testsetId?: string): Promise<object[]> => {
    const found = []
    for (const id of ids) {
      const one = await findTestcase(registry, family, id)
      if (one && (testsetId === undefined || one.testset.id === testsetId))
        found.push(await presentTestcaseAlone(one))
    }
    return found
  }

  const rowsOfRevision = async (
    registry: Registry,
    references: References,
    windowing: Windowing | undefined,
  ) => {
    const place = await resolveRevision(registry, family, references)
    const { stored, artifact } = await readRevisionAt(registry, place)
    if (!stored.payload) return { count: 0, testcases: [] }
    const testset = asStored(stored.payload)
    const source = artifact.repository.objects
    const limit = windowing?.limit ?? Number.POSITIVE_INFINITY
    const page = await rowPage(source, testset, artifact.id, windowing, limit)
    const rows = (await withBytes(source, page.rows)).map((row) => ({
      // A row's flags, tags and meta are the revision's (ruling 5.2a).
      ...presentTestcase({ ...row, meta: undefined }, artifact.id, testset.columns),
      set_id: artifact.id,
    }))
    return { count: rows.length, testcases: rows, windowing: page.windowing }
  }

  return [
    endpoint({
      method: 'GET',
      path: '/testcases',
      tag,
      summary: 'Testcases by id: ?testcase_ids=a,b and ?testcase_id=c, as often as wanted',
      scope: 'read',
      input: z.object({ ids: z.array(uuid).max(MANY).optional() }),
      fromQuery: queryIds('testcase'),
      output: testcases,
      run: async ({ registry, input }) => {
        if (!input.ids?.length) throw nothingAsked()
        const found = await byIds(registry, input.ids)
        return { body: { count: found.length, testcases: found } }
      },
    }),
    endpoint({
      method: 'POST',
      path: '/testcases/query',
      tag,
      summary: 'Testcases by ids, of a revision, or all that a testset ever had',
      scope: 'read',
      input: envelope({
        ids: { names: ['testcase_ids'], schema: z.array(uuid).max(MANY) },
        testsetId: { names: ['testset_id'], schema: uuid },
        artifact: { names: spellings(names, '_ref'), schema: reference },
        variant: { names: spellings(names, '_variant_ref'), schema: reference },
        revision: { names: spellings(names, '_revision_ref'), schema: reference },
        windowing: { names: ['windowing'], schema: pageWindowing },
      }),
      output: testcases,
      example: { testset_revision_ref: { slug: 'capitals', version: 2 }, windowing: { limit: 100 } },
      run: async ({ registry, input }) => {
        const { artifact, variant, revision, ids, testsetId, windowing } = input
        if (artifact ?? variant ?? revision)
          return { body: await rowsOfRevision(registry, { artifact, variant, revision }, windowing) }
        if (!ids?.length && testsetId === undefined) throw nothingAsked()
        const wanted = ids?.length
          ? ids
          : await everyTestcase(await artifactById(registry, family, testsetId ?? ''))
        const page = cutIds(wanted, windowing)
        const found = await byIds(registry, page.ids, testsetId)
        return {
          body: {
            count: found.length,
            testcases: found,
            ...(page.next === undefined ? {} : { windowing: { ...windowing, next: page.next } }),
          },
        }
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
        if (!found) throw new Refusal('testcase_not_found', `There is no testcase with the id ${id}.`)
        return { body: { count: 1, testcase: await presentTestcaseAlone(found) } }
      },
    }),
  ]
}

/**
 * A window of a list of ids. `next` is the last one seen; where the list repeats it, how many of them were seen stands behind it.
 */
function cutIds(
  ids: readonly string[],
  windowing: Windowing | undefined,
): { readonly ids: readonly string[]; readonly next: string | undefined } {
  const ordered = windowing?.order === 'descending' ? ids.toReversed() : ids
  const next = windowing?.next
  const start = next === undefined ? 0 : startBehind(ordered, next)
  if (start === undefined) {
    throw invalid(
      ['body', 'windowing', 'next'],
      `"${next}" is none of these testcases. Send the \`next\` of the previous answer.`,
      'invalid_cursor',
    )
  }
  const end = start + (windowing?.limit ?? ordered.length)
  const page = ordered.slice(start, end)
  return { ids: page, next: end < ordered.length ? cursorAt(ordered, end - 1) : undefined }
}

function cursorAt(ids: readonly string[], index: number): string {
  const last = ids[index] ?? ''
  const times = ids.slice(0, index + 1).filter((id) => id === last).length
  return times === 1 ? last : `${last}*${times}`
}

/** Where the list goes on behind the id that a cursor says; undefined if it does not hold it so often. */
function startBehind(ids: readonly string[], cursor: string): number | undefined {
  const [, text = '', times = '1'] = /^([^*]+)(?:\*([1-9][0-9]{0,8}))?$/.exec(cursor) ?? []
  const id = parseUuid(text)
  let index = -1
  for (let left = Number(times); left > 0; left--) {
    index = id === undefined ? -1 : ids.indexOf(id, index + 1)
    if (index < 0) return undefined
  }
  return index + 1
}

function nothingAsked(): Refusal {
  return new Refusal(
    'incomplete_reference',
    'Say which testcases: send testcase_ids, testset_id, or a reference to a testset, variant or revision.',
  )
}
