import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { dataText } from './data-text.ts'
import { PUBLIC_COLUMNS, publicData } from './public-data.ts'
import {
  equalJson,
  type Json,
  type JsonObject,
  getKey,
  hasKey,
  isJsonObject,
  keysOf,
} from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { csvRows } from '../../../src/registry/testsets/files/csv-rows.ts'
import { jsonLinesRows } from '../../../src/registry/testsets/files/json-lines-rows.ts'
import { jsonRows } from '../../../src/registry/testsets/files/json-rows.ts'
import { chunksOf, textsOf, WIDE } from '../../registry/testsets/files/read-rows.ts'

const rows = [...publicData(400, 7)]
const lines = rows.map((row) => stringifyJson(row))

describe('public data', () => {
  it('is the same for the same seed, another for another, and the first rows of more are fewer rows', () => {
    expect([...publicData(400, 7)].map((row) => stringifyJson(row))).to.deep.equal(lines)
    expect([...publicData(30, 7)].map((row) => stringifyJson(row))).to.deep.equal(lines.slice(0, 30))
    const others = new Set([...publicData(400, 8)].map((row) => stringifyJson(row)))
    expect(lines.filter((line) => others.has(line))).to.deep.equal([])
    // what was measured or reported with a seed must be found again with it, whatever the machine
    expect(createHash('sha256').update(lines.join('\n')).digest('hex')).to.equal(HASH_OF_SEED_7)
  })

  it('has no row twice, the known columns only, always in one order', () => {
    expect(new Set(lines).size).to.equal(400)
    for (const row of rows) {
      expect(keysOf(row)).to.deep.equal(PUBLIC_COLUMNS.filter((column) => hasKey(row, column)))
    }
    for (const column of PUBLIC_COLUMNS)
      expect(
        rows.some((row) => hasKey(row, column)),
        column,
      ).to.equal(true)
  })

  it('holds what files of rows break on', () => {
    const strings = rows
      .flatMap((row) => PUBLIC_COLUMNS.map((column) => getKey(row, column)))
      .filter(isString)
    const some = (what: RegExp): boolean => strings.some((text) => what.test(text))
    for (const what of [
      /\n/,
      /\r\n/,
      /"/,
      /,/,
      /^$/,
      /^=/,
      /^[+@\t-]/,
      /\p{Script=Hebrew}/u,
      /\p{Script=Arabic}/u,
    ])
      expect(some(what), String(what)).to.equal(true)
    expect(some(/\p{Extended_Pictographic}\u200d/u)).to.equal(true)
    expect(some(/[\u{20000}-\u{2ffff}]/u)).to.equal(true)
    expect(strings.every((text) => text.isWellFormed())).to.equal(true)
    expect(Math.max(...strings.map((text) => Buffer.byteLength(text)))).to.be.within(4000, 100_000)
    const all = lines.join('\n')
    for (const literal of [
      '12345678901234567890',
      '0.1000000000000000055511151231257827',
      '1E400',
      '-0',
      '1.0',
    ]) {
      expect(all, literal).to.include(`:${literal}`)
    }
    expect(['__proto__', 'constructor', '7'].every((key) => all.includes(`"${key}":{`))).to.equal(true)
    for (const kind of [isString, isJsonObject, Array.isArray, isNull, isTrue]) {
      const column = kind === isJsonObject ? 'metadata' : kind === isTrue ? 'is_reviewed' : undefined
      const values = column ? rows.map((row) => getKey(row, column)) : rows.flatMap((row) => valuesOf(row))
      expect(
        values.some((value) => kind(value)),
        kind.name,
      ).to.equal(true)
    }
  })

  it('comes back from a JSON file and from JSON Lines as it was', async () => {
    expect(await textsOf(jsonRows(chunksOf(textOf('json')), WIDE))).to.deep.equal(lines)
    expect(await textsOf(jsonLinesRows(chunksOf(textOf('jsonl')), WIDE))).to.deep.equal(lines)
    expect([...dataText([], 'json')].join('')).to.equal('[]\n')
  })

  it('comes back from a CSV with every value as a cell, save nulls and missing members, which are empty', async () => {
    const read = await textsOf(csvRows(chunksOf(textOf('csv')), { ...WIDE, infer: false }))
    expect(read).to.have.length(400)
    for (const [index, text] of read.entries()) {
      // csvRows answers rows, and what was a row is an object
      const cells = parseJson(text) as JsonObject
      const row = rows[index] ?? {}
      expect(keysOf(cells)).to.deep.equal(PUBLIC_COLUMNS)
      for (const column of PUBLIC_COLUMNS) {
        const [cell, value] = [getKey(cells, column), getKey(row, column)]
        if (value === undefined || value === null || isString(value)) expect(cell).to.equal(value ?? '')
        else expect(equalJson(parseJson(String(cell)), value), `${column} of row ${index}`).to.equal(true)
      }
    }
  })
})

const HASH_OF_SEED_7 = '74685a97a56223460398a369edf9f9c3c1871492f6f5787bd387aea34a69ee19'

function textOf(format: 'csv' | 'json' | 'jsonl'): string {
  return [...dataText(rows, format)].join('')
}

function valuesOf(row: JsonObject): (Json | undefined)[] {
  return PUBLIC_COLUMNS.map((column) => getKey(row, column))
}

function isString(value: Json | undefined): value is string {
  return typeof value === 'string'
}

function isNull(value: Json | undefined): value is null {
  return value === null
}

function isTrue(value: Json | undefined): value is true {
  return value === true
}
