import { csvHeader, csvLine } from '../../../src/registry/testsets/csv-line.ts'
import type { PlainObject } from '../../../src/base/json/json.ts'

const COLUMNS = ['question', 'answer', 'context', 'source', 'difficulty']

/** A row of five short texts, about 200 bytes in all, another for each number. */
export function tableRow(number: number): PlainObject {
  const word = WORDS[number % WORDS.length] ?? ''
  const other = WORDS[(number * 7 + 3) % WORDS.length] ?? ''
  return {
    question: `How many ${word} did case ${number} have, "counted" twice?`,
    answer: `${(number * 7919) % 10_007} ${word}, of which ${number % 13} were ${other}`,
    context: `The ${other} of room ${(number * 31) % 977} were counted by hand and later again by machine, in order.`,
    source: `ledger-${number % 64}/page-${number}`,
    difficulty: `${(number % 100) / 100}`,
  }
}

/** The CSV of rows 0 to before `count`, a line at a time. */
export function* tableCsv(count: number): Generator<string> {
  yield csvHeader(COLUMNS)
  for (let number = 0; number < count; number++) yield csvLine(COLUMNS, tableRow(number))
}

const WORDS = 'apples bridges candles doors engines feathers gloves hammers islands jackets kettles'.split(
  ' ',
)
