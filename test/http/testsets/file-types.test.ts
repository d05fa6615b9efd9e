import { expect } from 'chai'
import { type RunningService, startService } from '../../support/servers/service.ts'
import { expectRefusal } from '../conformance/surface-client.ts'

const JSON_ROWS = '[{"a": 1}, {"a": 2}]'
const LINES = '{"a": 1}\n{"a": 2}\n'
const CSV = 'a\n1\n2\n'

describe('testsets: the type of a file in a form', () => {
  let service: RunningService
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const upload = (
    text: string,
    name: string,
    type: string,
    fields: Readonly<Record<string, string>> = {},
  ) => {
    const form = new FormData()
    form.set('file', new Blob([text], { type }), name)
    for (const [field, value] of Object.entries(fields)) form.set(field, value)
    return service.post('/simple/testsets/upload', form)
  }

  const told: readonly (readonly [text: string, name: string, type: string, value: unknown])[] = [
    [JSON_ROWS, 'rows.json', '', 1],
    [JSON_ROWS, 'ROWS.JSON', 'text/plain', 1],
    [JSON_ROWS, 'rows', 'application/json', 1],
    [JSON_ROWS, 'rows.txt', 'application/json; charset=utf-8', 1],
    [LINES, 'rows.jsonl', 'application/octet-stream', 1],
    [LINES, 'rows.ndjson', '', 1],
    [LINES, 'rows.jsonl', 'application/json', 1],
    [LINES, 'rows', 'application/x-ndjson', 1],
    [CSV, 'rows.csv', 'application/vnd.ms-excel', '1'],
    [CSV, 'rows.csv', 'application/json', '1'],
    [CSV, 'rows', '', '1'],
    [CSV, 'rows.txt', 'text/plain', '1'],
  ]
  for (const [text, name, type, value] of told) {
    it(`${name} as ${JSON.stringify(type)} is read by its name, else by the type of its part`, async () => {
      const { body, text: answer } = await upload(text, name, type)
      expect(body.testset?.data.testcases, answer).to.have.lengthOf(2)
      expect(body.testset.data.testcases[0].data.a).to.equal(value)
    })
  }

  it('is what file_type says, whatever the name', async () => {
    const { body } = await upload(JSON_ROWS, 'rows.csv', 'text/csv', { file_type: 'json' })
    expect(body.testset.data.testcases[0].data.a).to.equal(1)
    expectRefusal(await upload(CSV, 'rows.csv', '', { file_type: 'json' }), 422, 'invalid_file')
  })
})
