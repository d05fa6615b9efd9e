import { expect } from 'chai'
import fc from 'fast-check'
import { hashObject } from '../../../../src/git/objects/object.ts'
import { getKey, type JsonObject } from '../../../../src/base/json/json.ts'
import { RowCollector } from '../../../../src/registry/testsets/import/row-collector.ts'
import { TimeSlice } from '../../../../src/base/scheduling/cooperative.ts'
import { inputRow } from '../../../../src/registry/testsets/import/input-row.ts'
import { decodeRow, dedupIdOf } from '../../../../src/registry/testsets/rows/stored-row.ts'

/** A row as the tests write it: its content, and the dedup id it brings. */
type Row = readonly [content: string, dedupId?: string]

const NO_LIMITS = { maxRows: 1000, maxRowBytes: 1000, maxColumns: 100 }

describe('RowCollector', () => {
  const collect = async (rows: readonly Row[], limits = NO_LIMITS) => {
    const blobs = new Map<string, Buffer>()
    const put = (bytes: Buffer): string => {
      const oid = hashObject('blob', bytes)
      blobs.set(oid, bytes)
      return oid
    }
    const get = async (oid: string): Promise<Buffer> => blobs.get(oid) ?? Buffer.alloc(0)
    const collector = new RowCollector({ put, get }, limits)
    for (const [content, dedupId] of rows) collector.add(sent(content, dedupId))
    const { rows: collected, columns } = await collector.finish(new TimeSlice())
    const stored = collected.map(({ oid, key }) => {
      const data = decodeRow(blobs.get(oid) ?? Buffer.alloc(0))
      return { a: getKey(data, 'a'), dedupId: dedupIdOf(data), key }
    })
    return { stored, columns }
  }
  const shown = async (rows: readonly Row[]): Promise<string[]> =>
    (await collect(rows)).stored.map((row) => `${row.a} ${row.key}`)

  it('gives every row a dedup id, and says it in the blob', async () => {
    const { stored, columns } = await collect([['x'], ['y', 'mine']])
    expect(stored.map(({ key, dedupId }) => [key, dedupId])).to.deep.equal([
      ['225e09b4b4ef', '225e09b4b4ef'],
      ['mine', 'mine'],
    ])
    expect(columns).to.deep.equal(['a', 'testcase_dedup_id'])
  })

  it('a generated dedup id gives way to a given one, wherever that stands', async () => {
    const taken = '225e09b4b4ef'
    expect(await shown([['x'], ['y', taken]])).to.deep.equal([`x ${taken}-2`, `y ${taken}`])
    expect(await shown([['y', taken], ['x']])).to.deep.equal([`y ${taken}`, `x ${taken}-2`])
    expect(await shown([['x'], ['y', taken], ['z', `${taken}-2`]])).to.deep.equal([
      `x ${taken}-3`,
      `y ${taken}`,
      `z ${taken}-2`,
    ])
  })

  it('refuses more rows than the limit at the first one too many, and counts what is one row once', async () => {
    const limits = { ...NO_LIMITS, maxRows: 2 }
    expect((await collect([['x'], ['y'], ['x'], ['y', 'mine']], limits)).stored).to.have.length(2)
    for (const rows of [
      [['x'], ['y'], ['z']],
      [
        ['x', '1'],
        ['x', '2'],
        ['x', '3'],
      ],
      [['x'], ['y', '1'], ['z', '2']],
    ] as Row[][])
      expect(
        await collect(rows, limits).then(
          () => 'taken',
          (error: Error) => error.message,
        ),
      ).to.match(/at most 2 rows/)
  })

  it('refuses many times as many rows as the limit, even if all of them are one', async () => {
    const limits = { ...NO_LIMITS, maxRows: 2 }
    const same = (count: number): Row[] => Array.from({ length: count }, () => ['x'])
    expect((await collect(same(8), limits)).stored).to.have.length(1)
    expect(
      await collect(same(9), limits).then(
        () => 'taken',
        (error: Error) => error.message,
      ),
    ).to.match(/at most 8 rows, equal ones included/)
  })

  it('agrees with the rules applied one after the other, whatever comes in', async () => {
    const row = fc.tuple(
      fc.constantFrom('x', 'y', 'z'),
      fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 12 }), async (rows) => {
        const seen = (await collect(rows)).stored.map(({ a, key }) => [
          a,
          key.length === 12 ? undefined : key,
        ])
        expect(seen).to.deep.equal(byTheRulings(rows))
      }),
      { numRuns: 300 },
    )
  })
})

function sent(content: string, dedupId: string | undefined) {
  const data: JsonObject = dedupId === undefined ? { a: content } : { a: content, testcase_dedup_id: dedupId }
  return inputRow(data, {}, (key, problem) => expect.fail(`${key} ${problem}`))
}

/** First 5.2: of one dedup id the last row stays, at the first place. Then 5.1: rows without one become others. */
function byTheRulings(rows: readonly Row[]): unknown[] {
  const left: (Row | undefined)[] = rows.map((row, index) => {
    const [, id] = row
    if (id === undefined) return row
    const isFirst = rows.findIndex(([, other]) => other === id) === index
    return isFirst ? rows.findLast(([, other]) => other === id) : undefined
  })
  for (const [index, row] of left.entries()) {
    if (row === undefined || row[1] !== undefined) continue
    const named = left.findIndex((other) => other?.[0] === row[0] && other[1] !== undefined)
    const first = left.findIndex((other) => other?.[0] === row[0])
    if (named > index) [left[index], left[named]] = [left[named], undefined]
    else if (first < index || named >= 0) left[index] = undefined
  }
  return left.flatMap((row) => (row ? [[row[0], row[1]]] : []))
}
