import { expect } from 'chai'
import { z } from 'zod'
import { Refusal } from '../../src/errors.ts'
import { documentsOf } from '../../src/storage/files/file-documents.ts'
import { JsonRecordFile } from '../../src/storage/files/json-record-file.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'

const SCHEMA = z.strictObject({ format: z.literal(1), names: z.array(z.string()) })
const PATH = '/notes.json'

describe('storage: record files', () => {
  const file = new JsonRecordFile({
    schema: SCHEMA,
    damage: (path, why) => `${path} holds no notes: ${why}. Remove it.`,
    indent: 2,
  })
  let fs: ReturnType<typeof memoryFs>
  beforeEach(() => (fs = memoryFs()))

  it('hold nothing, then one record, then another, laid out, also where somebody died on the way', async () => {
    expect(file.read(fs, PATH)).to.equal(undefined)
    await file.put(documentsOf(fs), PATH, { format: 1, names: [] })
    fs.create(`${PATH}.new`, Buffer.from('{"form'))
    await file.put(documentsOf(fs), PATH, { format: 1, names: ['a'] })
    expect(file.read(fs, PATH)).to.deep.equal({ format: 1, names: ['a'] })
    expect(fs.readFile(PATH)?.toString()).to.equal('{\n  "format": 1,\n  "names": [\n    "a"\n  ]\n}\n')
    expect(fs.stat(`${PATH}.new`)).to.equal(undefined)
  })

  for (const text of [
    '',
    '{"format":2,"names":[]}',
    '{"format":1,"names":[]',
    '{"format":1,"names":[],"more":1}',
  ])
    it(`are refused by their path, with what to do, where they hold ${text || 'nothing'}`, () => {
      fs.create(PATH, Buffer.from(text))
      expect(() => file.read(fs, PATH))
        .to.throw(Refusal, /^\/notes\.json holds no notes: .+\. Remove it\.$/s)
        .with.property('code', 'storage_unavailable')
    })
})
