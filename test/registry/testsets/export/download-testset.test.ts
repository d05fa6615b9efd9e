import { expect } from 'chai'
import fc from 'fast-check'
import { nodeFs } from '../../../../src/storage/files/node-fs.ts'
import { ObjectDatabase } from '../../../../src/git/objects/object-database.ts'
import { PackCache } from '../../../../src/git/packs/pack-cache.ts'
import { canonicalJson } from '../../../../src/base/json/canonical-json.ts'
import {
  entriesOf,
  fromEntries,
  getKey,
  type Json,
  type JsonObject,
  keysOf,
} from '../../../../src/base/json/json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import { FILE_TYPES } from '../../../../src/registry/testsets/files/file-type.ts'
import { type Export, writeTestsetFile } from '../../../../src/registry/testsets/download-testset.ts'
import { csvHeader, csvRow } from '../../../../src/registry/testsets/csv-line.ts'
import { positionsAfter } from '../../../../src/registry/testsets/rows/row-position.ts'
import { editRows, rowsOfTree } from '../../../../src/registry/testsets/rows/row-tree.ts'
import { DEDUP_COLUMN } from '../../../../src/registry/testsets/import/input-row.ts'
import { decodeRow, inColumnOrder } from '../../../../src/registry/testsets/rows/stored-row.ts'
import { testcaseId } from '../../../../src/registry/testsets/testcase.ts'
import { rowPath } from '../../../../src/registry/testsets/testset-tree.ts'
import { temporaryFolder } from '../../../support/git/git-program.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'
import { restsDuring } from '../../../support/rests.ts'
import { RecordedObjects } from '../recorded-objects.ts'

const ID = '0190f3c9-a1be-7d24-8b5a-7d41c0aa93fe'
const METAS = ['flags', 'tags', 'meta'] as const

/** A row as somebody stored it: the bytes of its blob, and flags, tags and meta. */
interface Stored {
  readonly bytes: Buffer
  readonly meta: JsonObject | undefined
}

const KEYS = ['a', 'b', 'c', '__proto__', '0', 'constructor', 'a"b', 'a,b', 'é', '\ufeffk']
const key = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.constantFrom('__id__', '__tags__', 'other') },
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom(...'",\\/\n\r\t\b\f\0 =-a1é\u2028\ufeff😀\x7f'), { maxLength: 6 })
    .map((all) => all.join('')),
)
const member = fc.tuple(key, fc.oneof({ weight: 3, arbitrary: text }, arbitraryJson))
const data: fc.Arbitrary<JsonObject> = fc
  .tuple(fc.array(member, { maxLength: 6 }), fc.option(fc.oneof(text, arbitraryJson), { nil: undefined }))
  .map(([members, dedup]) =>
    fromEntries([...members, ...(dedup === undefined ? [] : [[DEDUP_COLUMN, dedup] as const])]),
  )

/** Blobs of a row: as we write it, mostly; as somebody else may have. */
const bytesOfRow = fc
  .tuple(
    data,
    fc.constantFrom('ours', 'ours', 'ours', 'ours', 'indented', 'unsorted', 'bare', 'slashes', 'hex'),
  )
  .map(([row, layout]) => {
    const ours = canonicalJson(row)
    if (layout === 'indented') return Buffer.from(`${stringifyJson(row, 2)}\n`)
    if (layout === 'unsorted') return Buffer.from(`${stringifyJson(row)}\n`)
    if (layout === 'bare') return Buffer.from(ours)
    if (layout === 'slashes') return Buffer.from(`${ours.replaceAll('/', '\\/')}\n`)
    if (layout === 'hex') return Buffer.from(`${ours.replaceAll('é', '\\u00E9')}\n`)
    return Buffer.from(`${ours}\n`)
  })

const metaOfRow = fc.option(
  fc.subarray([...METAS]).map((names) => fromEntries(names.map((name) => [name, { of: name }]))),
  { nil: undefined, freq: 2 },
)

/** The list of columns: of all that rows have, mostly; git may have brought another. */
const columnsOf = fc.oneof(
  { weight: 3, arbitrary: fc.shuffledSubarray([...KEYS, DEDUP_COLUMN], { minLength: KEYS.length }) },
  { weight: 1, arbitrary: fc.uniqueArray(key) },
)

async function store(objects: RecordedObjects, rows: readonly Stored[]) {
  const positions = positionsAfter(undefined, rows.length)
  const blobs = rows.map(({ bytes, meta }) => ({
    oid: objects.write('blob', bytes),
    meta: meta && objects.write('blob', Buffer.from(canonicalJson(meta))),
  }))
  return editRows(objects, undefined, new Map(positions.map((position, at) => [position, blobs[at]])))
}

/** The file, or the sentence of the refusal. */
async function written(wanted: Export): Promise<string> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of writeTestsetFile(wanted)) pieces.push(piece)
  } catch (error) {
    return String(error)
  }
  return Buffer.concat(pieces).toString('latin1')
}

/** The same, each row decoded to an object and written from that. */
async function plainly({ source, testset, type, escapeFormulas }: Export, rows: readonly Stored[]) {
  const decoded: { data: JsonObject; id: string; metas: (readonly [string, Json])[] }[] = []
  const stored = rows.values()
  try {
    for await (const batch of rowsOfTree(source, testset.tree))
      for (const { oid, position } of batch) {
        const { bytes, meta } = stored.next().value as Stored // as many as were stored
        const metas = METAS.flatMap((name) => {
          const value = meta && getKey(meta, name)
          return value === undefined ? [] : [[`__${name}__`, value] as const]
        })
        decoded.push({ data: decodeRow(bytes, () => rowPath(position)), id: testcaseId(oid, ID), metas })
      }
  } catch (error) {
    return String(error)
  }
  if (type !== 'csv') {
    const texts = decoded.map(({ data, id, metas }) => {
      const dedup = getKey(data, DEDUP_COLUMN)
      const members = entriesOf(inColumnOrder(data, testset.columns)).filter(
        ([name]) => name !== DEDUP_COLUMN,
      )
      const own = dedup === undefined ? [] : [['__dedup_id__', dedup] as const]
      return stringifyJson(fromEntries([...members, ['__id__', id], ...own, ...metas]))
    })
    const file = type === 'json' ? `[${texts.join()}]` : texts.map((line) => `${line}\n`).join('')
    return Buffer.from(file).toString('latin1')
  }
  const keys = new Set([...testset.columns, ...decoded.flatMap(({ data }) => keysOf(data))])
  const columns = [...keys].filter((name) => name !== DEDUP_COLUMN)
  const beside = METAS.map((name) => `__${name}__`).filter((name) =>
    decoded.some(({ metas }) => metas.some(([column]) => column === name)),
  )
  const lines = decoded.map(({ data, id, metas }) =>
    csvRow(
      [
        ...columns.map((column) => getKey(data, column)),
        id,
        getKey(data, DEDUP_COLUMN),
        ...beside.map((column) => new Map(metas).get(column)),
      ],
      { escapeFormulas },
    ),
  )
  if (testset.tree === undefined && columns.length === 0) return ''
  const file =
    csvHeader([...columns, '__id__', '__dedup_id__', ...beside], { escapeFormulas }) + lines.join('')
  return Buffer.from(file).toString('latin1')
}

describe('testsets: a download', () => {
  const source = (folder: string): ObjectDatabase => new ObjectDatabase(nodeFs, folder, new PackCache())

  it('is what objects made of its rows would give, byte for byte, whatever the rows are', async () => {
    const row = fc.record({ bytes: bytesOfRow, meta: metaOfRow })
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 30 }), columnsOf, async (rows, columns) => {
        const objects = new RecordedObjects()
        const tree = await store(objects, rows)
        const folder = temporaryFolder()
        objects.store(folder)
        const testset = { kind: 'stored', tree, columns } as const
        for (const type of FILE_TYPES)
          for (const escapeFormulas of type === 'csv' ? [false, true] : [false]) {
            const wanted = { source: source(folder), testset, testsetId: ID, type, escapeFormulas }
            expect(await written(wanted), type).to.equal(await plainly(wanted, rows))
          }
      }),
      { numRuns: 50 },
    )
  })

  it('ends in the same refusal, or none, if a byte of a row is another or too many', async () => {
    const damaged = fc
      .tuple(data, fc.nat(), fc.nat(255), fc.constantFrom('', '', ' ', 'x', '{}\n'))
      .map(([row, at, flip, more]) => {
        const bytes = Buffer.from(`${canonicalJson(row)}\n${more}`)
        bytes[at % bytes.length]! ^= flip // some byte of these
        return { bytes, meta: undefined }
      })
    await fc.assert(
      fc.asyncProperty(damaged, columnsOf, async (row, columns) => {
        const objects = new RecordedObjects()
        const testset = { kind: 'stored', tree: await store(objects, [row]), columns } as const
        for (const type of FILE_TYPES) {
          const wanted = { source: objects, testset, testsetId: ID, type, escapeFormulas: false }
          expect(await written(wanted), type).to.equal(await plainly(wanted, [row]))
        }
      }),
      { numRuns: 600 },
    )
  })

  it('comes in pieces that are not much longer than a row, however long rows are', async () => {
    const rows = Array.from({ length: 20 }, (_, number) => ({
      bytes: Buffer.from(`{"a":"${String(number).padStart(200_000)}"}\n`),
      meta: undefined,
    }))
    const objects = new RecordedObjects()
    const testset = { kind: 'stored', tree: await store(objects, rows), columns: ['a'] } as const
    for (const type of FILE_TYPES) {
      const wanted = { source: objects, testset, testsetId: ID, type, escapeFormulas: false }
      const lengths: number[] = []
      for await (const { length } of writeTestsetFile(wanted)) lengths.push(length)
      expect(Math.max(...lengths), type).to.be.lessThan(1_500_000)
      expect(await written(wanted), type).to.equal(await plainly(wanted, rows))
    }
  })

  it('gives others their turn between some hundred rows and the next', async () => {
    const rows = Array.from({ length: 3000 }, (_, number) => ({
      bytes: Buffer.from(`{"a":"${number}"}\n`),
      meta: undefined,
    }))
    const objects = new RecordedObjects()
    const testset = { kind: 'stored', tree: await store(objects, rows), columns: ['a'] } as const
    for (const type of FILE_TYPES) {
      const wanted = { source: objects, testset, testsetId: ID, type, escapeFormulas: false }
      expect(await restsDuring(() => written(wanted)), type).to.be.greaterThan(3)
    }
  })
})
