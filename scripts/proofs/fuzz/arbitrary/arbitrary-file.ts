import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { arbitraryBytesOf } from './arbitrary-bytes.ts'
import { arbitraryText } from './arbitrary-junk.ts'

/** A body and its media type; a form brings its own. */
export interface UploadedBytes {
  readonly content: string | Buffer | FormData
  readonly type: string | undefined
}

const CSV = 'country,capital,population,__dedup_id__\nNorway,Oslo,700000,a\nPeru,"Li""ma\n",1e3,b\n'
const JSON_ROWS = '[{"country":"Norway","n":1.0},{"data":{"country":"Peru"},"tags":{"a":1}},{"country":null}]'
const JSONL = '{"country":"Norway","n":12345678901234567890}\n{"country":"Peru"}\n'

/** Files of rows in every format, whole or with some bytes changed, compressed or not, as a form or as the body itself. */
export const arbitraryFile: fc.Arbitrary<UploadedBytes> = fc
  .record({
    format: fc.constantFrom(
      { type: 'text/csv', own: 'a.csv', text: CSV },
      { type: 'application/json', own: 'a.json', text: JSON_ROWS },
      { type: 'application/jsonl', own: 'a.jsonl', text: JSONL },
      { type: 'application/x-ndjson', own: 'a.ndjson', text: JSONL },
    ),
    spoilt: fc.nat(3),
    seed: fc.nat(),
    packing: fc.constantFrom('plain', 'plain', 'gzip', 'broken gzip'),
    asForm: fc.boolean(),
    name: fc.oneof(fc.constantFrom('a.csv', 'a.json', '../x', 'noend'), arbitraryText),
    slug: fc.integer({ min: 1, max: 100_000 }),
  })
  .chain(({ format: { type, own, text }, spoilt, packing, asForm, name, slug }) => {
    const bytes = Buffer.from(text)
    const content = spoilt === 0 ? arbitraryBytesOf(bytes) : fc.constant(bytes)
    const packed = content.chain((it) => {
      if (packing === 'plain') return fc.constant(it)
      return packing === 'gzip' ? fc.constant(gzipSync(it)) : arbitraryBytesOf(gzipSync(it))
    })
    return packed.map((it): UploadedBytes => {
      if (!asForm) return { content: it, type }
      const form = new FormData()
      form.set('testset_slug', `file-${slug}`)
      const ending = packing === 'plain' ? '' : '.gz'
      form.set('file', new Blob([new Uint8Array(it)]), spoilt === 1 ? name.toWellFormed() : own + ending)
      return { content: form, type: undefined }
    })
  })
