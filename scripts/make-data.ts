import { parseArgs } from 'node:util'
import { DATA_FORMATS, type DataFormat, dataText } from '../test/support/values/data-text.ts'
import { publicData } from '../test/support/values/public-data.ts'
import { writeTextFile } from './bench/write-text-file.ts'

const USAGE = `Writes a file of made-up rows in the shape of public evaluation data sets, for uploads.

  node dist/scripts/make-data.js --to FILE [--rows N] [--seed S] [--format csv|json|jsonl]

  --to       the file, which is overwritten      --rows     how many rows (1000)
  --seed     the same one gives the same (1)     --format   csv, json (one array) or jsonl (csv)`

try {
  const { values } = parseArgs({
    options: {
      to: { type: 'string' },
      rows: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      format: { type: 'string', default: 'csv' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) console.log(USAGE)
  else {
    const [rows, seed] = [wholeNumber('rows', values.rows), wholeNumber('seed', values.seed)]
    const format = formatNamed(values.format)
    if (values.to === undefined) throw new TypeError('--to is missing; name the file to write.')
    const bytes = await writeTextFile(values.to, dataText(publicData(rows, seed), format))
    console.log(`${values.to}: ${rows} rows, ${bytes} bytes of ${format}, seed ${seed}`)
  }
} catch (error) {
  // parseArgs throws a TypeError as well for an option that it does not know
  if (!(error instanceof TypeError)) throw error
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 1
}

function wholeNumber(option: string, text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new TypeError(`--${option} is ${JSON.stringify(text)}; give a whole number from 0 to 999999999.`)
}

function formatNamed(text: string): DataFormat {
  const format = DATA_FORMATS.find((name) => name === text)
  if (format) return format
  throw new TypeError(`--format is ${JSON.stringify(text)}; give one of ${DATA_FORMATS.join(', ')}.`)
}
