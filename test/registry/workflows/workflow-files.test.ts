import { expect } from 'chai'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import {
  decodeWorkflow,
  encodeWorkflow,
  isWorkflowFile,
} from '../../../src/registry/workflows/workflow-family.ts'
import { refusalOfAsync } from '../refusal-of.ts'
import { readerOf, writtenFile } from '../written-file.ts'

describe('workflow files', () => {
  it('writes data.json as a person would, keys and digits as they came', () => {
    expect(encode('{"uri":"x","parameters":{"2":1.50,"1":[]}}')).to.deep.equal({
      'data.json': '{\n  "uri": "x",\n  "parameters": {\n    "2": 1.50,\n    "1": []\n  }\n}\n',
    })
  })

  for (const [runtime, name] of [
    ['python', 'script.py'],
    ['typescript', 'script.ts'],
    ['javascript', 'script.js'],
  ] as const) {
    it(`writes a ${runtime} source as ${name} and names it where it stood`, () => {
      expect(encode(`{"script":"a\\r\\nb","runtime":"${runtime}"}`)).to.deep.equal({
        'data.json': `{\n  "script": "${name}",\n  "runtime": "${runtime}"\n}\n`,
        [name]: 'a\r\nb',
      })
    })
  }

  it('leaves a source inside data.json when nothing says its language', () => {
    expect(Object.keys(encode('{"script":"x"}'))).to.deep.equal(['data.json'])
    expect(Object.keys(encode('{"script":"x","runtime":"ruby"}'))).to.deep.equal(['data.json'])
    expect(Object.keys(encode('{"runtime":"python"}'))).to.deep.equal(['data.json'])
  })

  it('writes nothing for no data, and reads none from no data.json', async () => {
    expect(encodeWorkflow(undefined)).to.deep.equal([])
    expect(await decode({})).to.equal(undefined)
    expect(await decode({ 'script.py': 'x' })).to.equal(undefined)
  })

  it('owns its files and no others', () => {
    expect(['data.json', 'script.py', 'script.ts', 'script.js'].filter(isWorkflowFile)).to.have.length(4)
    expect(
      ['README.md', 'script.rb', 'script', 'src/script.py', 'revision.json'].filter(isWorkflowFile),
    ).to.deep.equal([])
  })

  it('reads back whatever it wrote', async () => {
    const data = fc.record(
      {
        script: fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('script.py', 'script.js', '\ufeffx', ''),
        ),
        runtime: fc.constantFrom('python', 'typescript', 'javascript'),
        parameters: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        uri: fc.string({ unit: 'binary' }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(data, async (sent) => {
        const text = JSON.stringify(sent)
        const value = parseJson(text) as JsonObject
        const files = encodeWorkflow(value)
        const back = await decodeWorkflow(readerOf(files))
        expect(stringifyJson(back)).to.equal(stringifyJson(value))
      }),
    )
  })

  it('reads back what is nested as deeply as a body may ever be', async () => {
    const text = `{"parameters":{"a":${'['.repeat(998)}${']'.repeat(998)}}}`
    const files = encodeWorkflow(parseJson(text, { maxDepth: 1000 }) as JsonObject)
    const back = await decodeWorkflow(readerOf(files))
    expect(stringifyJson(back)).to.equal(text)
  })

  for (const [what, files, expected] of [
    [
      'a source beside an inline one wins',
      { 'data.json': '{"script":"old","runtime":"python"}', 'script.py': 'new' },
      '{"script":"new","runtime":"python"}',
    ],
    [
      'a source without a script key comes last',
      { 'data.json': '{"runtime":"python","uri":"x"}', 'script.py': '' },
      '{"runtime":"python","uri":"x","script":""}',
    ],
    [
      'a source of another language is not taken',
      { 'data.json': '{"script":"x","runtime":"python"}', 'script.js': 'no' },
      '{"script":"x","runtime":"python"}',
    ],
    [
      'without a runtime the source named is taken',
      { 'data.json': '{"script":"script.js"}', 'script.py': 'no', 'script.js': 'yes' },
      '{"script":"yes"}',
    ],
    [
      'without a runtime and a name the first is taken',
      { 'data.json': '{}', 'script.ts': 'ts', 'script.js': 'js' },
      '{"script":"ts"}',
    ],
    [
      'text that reads like a name stays text without a file',
      { 'data.json': '{"script":"script.js"}' },
      '{"script":"script.js"}',
    ],
    ['a byte order mark before JSON is skipped', { 'data.json': '\ufeff{"uri":"x"}' }, '{"uri":"x"}'],
    [
      'line ends and marks of a source are kept',
      { 'data.json': '{"runtime":"python"}', 'script.py': '\ufeffa\r\nb' },
      '{"runtime":"python","script":"\ufeffa\\r\\nb"}',
    ],
    ['any layout of data.json is read', { 'data.json': '{"b" :1e400,\r\n\t"1":2}' }, '{"b":1e400,"1":2}'],
  ] as const satisfies readonly (readonly [string, Readonly<Record<string, string>>, string])[]) {
    it(`after a push: ${what}`, async () => {
      expect(stringifyJson(await decode(files))).to.equal(expected)
    })
  }

  for (const [what, files, words] of [
    [
      'no JSON',
      { 'data.json': '{\n  "uri": oops\n}' },
      ['data.json', 'line 2', 'column 10', 'oops'.charAt(0)],
    ],
    ['an empty file', { 'data.json': '' }, ['data.json', 'line 1', 'column 1']],
    ['a key given twice', { 'data.json': '{"a":1,"a":2}' }, ['data.json', 'line 1', '"a"', 'twice']],
    ['no object', { 'data.json': '[1]' }, ['data.json', 'line 1', 'column 1', 'an array']],
    [
      'no UTF-8',
      { 'data.json': Buffer.from('{\n "é": "\xff"}', 'latin1') },
      ['data.json', 'line 2', 'column 3', 'UTF-8'],
    ],
    [
      'a cut-off character',
      { 'data.json': Buffer.from('{"a":"é').subarray(0, -1) },
      ['line 1', 'column 7', 'UTF-8'],
    ],
    [
      'no UTF-8 in a source',
      { 'data.json': '{"runtime":"python"}', 'script.py': Buffer.from([0x61, 0x0a, 0x80]) },
      ['script.py', 'line 2', 'column 1', 'UTF-8'],
    ],
    [
      'a source that is gone',
      { 'data.json': '{"runtime":"python","script":"script.py"}' },
      ['data.json', 'script.py', 'no such file'],
    ],
  ] as const satisfies readonly (readonly [
    string,
    Readonly<Record<string, string | Buffer>>,
    readonly string[],
  ])[]) {
    it(`after a push: refuses ${what}, naming the place`, async () => {
      const { code, message } = await refusalOfAsync(() => decode(files))
      expect(code).to.equal('damaged_repository')
      for (const word of words) expect(message).to.contain(word)
    })
  }
})

function encode(text: string): Readonly<Record<string, string>> {
  const files = encodeWorkflow(parseJson(text) as JsonObject)
  return Object.fromEntries(files.map((file) => [file.path, writtenFile(file).toString()]))
}

function decode(files: Readonly<Record<string, string | Buffer>>): Promise<JsonObject | undefined> {
  return decodeWorkflow(async (path) => {
    expect(isWorkflowFile(path), path).to.equal(true)
    const file = files[path]
    return file === undefined ? undefined : Buffer.from(file)
  })
}
