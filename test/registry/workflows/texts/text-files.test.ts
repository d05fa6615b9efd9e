import { expect } from 'chai'
import fc from 'fast-check'
import type { TreeEntry } from '../../../../src/git/objects/object.ts'
import type { Json, JsonObject } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'
import { DOCUMENT_LIMITS } from '../../../../src/registry/payload/document-limits.ts'
import { NewObjects } from '../../../../src/registry/artifacts/create-artifact.ts'
import {
  readTree,
  withFiles as changed,
  writeFile,
  writeTree,
} from '../../../../src/registry/payload/tree-files.ts'
import { workflowFamily } from '../../../../src/run/handlers/workflows.ts'

const RUNS = Number(process.env['TEXT_RUNS'] ?? 300)

const SYSTEM = 'You are a geographer.\nName capitals.\nBe brief.'

describe('texts of a workflow as files', () => {
  it('a prompt of messages is files that say who speaks, and data.json says where', async () => {
    const tree = await write(prompt(['system', SYSTEM], ['user', '{{q}}'], ['user', 'Thanks.']))
    expect(await filesOf(tree)).to.deep.equal({
      'data.json':
        '{\n  "@svc.format": 2,\n  "parameters": {\n    "prompt": {\n      "messages": [\n' +
        ['prompt/system.md', 'prompt/user.md', 'prompt/user-2.md']
          .map(
            (path, at) =>
              `        {\n          "role": "${at === 0 ? 'system' : 'user'}",\n          "content": {\n            "@svc.file": "${path}"\n          }\n        }`,
          )
          .join(',\n') +
        '\n      ]\n    }\n  }\n}\n',
      'prompt/system.md': `${SYSTEM}\n`,
      'prompt/user.md': '{{q}}\n',
      'prompt/user-2.md': 'Thanks.\n',
    })
  })

  it('other strings have a file where they are long or have lines; those that say where or what never have', async () => {
    const long = 'x'.repeat(121)
    const data = {
      parameters: {
        short: 'x'.repeat(120),
        long,
        emoji: '😀'.repeat(120),
        url: long,
        uri: long,
        nested: [{ name: long, id: long, type: long, role: long, note: 'a\nb' }],
      },
      schemas: { note: long },
    }
    expect(Object.keys(await filesOf(await write(data)))).to.deep.equal([
      'data.json',
      'parameters/long.md',
      'parameters/nested/0/note.md',
    ])
  })

  it('parts of a message are texts, and so are messages elsewhere', async () => {
    const data = {
      parameters: {
        prompt: {
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Look:' },
                { type: 'image_url', image_url: { url: 'x'.repeat(200) } },
                { type: 'text', text: 'What is it?' },
              ],
            },
          ],
        },
        examples: { messages: [{ role: 'assistant', content: 'Paris' }, { content: 'no role' }] },
      },
    }
    expect(Object.keys(await filesOf(await write(data)))).to.deep.equal([
      'data.json',
      'parameters/examples/messages/0/content.md',
      'prompt/user-2.md',
      'prompt/user.md',
    ])
  })

  it('a key that no file can be named by is named by a hash', async () => {
    const text = 'a\nb'
    const keys = ['ok', 'Upper', 'con', 'a/b', '../up', 'a.md', '__proto__', 'é', 'k'.repeat(300), '']
    const data = parseJson(
      `{"parameters":{${keys.map((key) => `${JSON.stringify(key)}:"a\\nb"`).join(',')}}}`,
    )
    const tree = await write(data as JsonObject)
    const files = Object.keys(await filesOf(tree))
    expect(files).to.have.length(keys.length + 1)
    for (const file of files.slice(1)) expect(file).to.match(/^parameters\/(ok|[0-9a-f]{10})\.md$/)
    expect(text).to.equal('a\nb')
    expect(stringifyJson(await read(tree))).to.equal(stringifyJson(data))
  })

  it('a path of 80 keys is one of a hash', async () => {
    let value: Json = 'a\nb'
    for (let at = 0; at < 80; at++) value = { key: value }
    const files = Object.keys(await filesOf(await write({ parameters: { deep: value } })))
    expect(files[1]).to.match(/^parameters\/[0-9a-f]{10}\.md$/)
  })

  it('a text that git would show badly stays inline, unless its file says it already', async () => {
    const first = await write(prompt(['user', 'a\r\nb'], ['user', 'nul \u0000']))
    expect(Object.keys(await filesOf(first))).to.deep.equal(['data.json'])
    const tidy = await write(prompt(['user', 'a\nb']))
    const pushed = await withFiles(tidy, { 'prompt/user.md': 'a\r\nb' })
    expect(await read(pushed)).to.deep.equal(prompt(['user', 'a\r\nb']))
    const next = await write({ ...prompt(['user', 'a\r\nb']), uri: 'x' }, pushed)
    expect((await filesOf(next))['prompt/user.md']).to.equal('a\r\nb')
    const edited = await write(prompt(['user', 'a\r\nc']), next)
    expect(Object.keys(await filesOf(edited))).to.deep.equal(['data.json'])
  })

  it('has at most 256 files: those that are, then the first ones', async () => {
    const texts = (count: number, start = 0): [string, string][] =>
      Array.from({ length: count }, (_, at) => ['user', `text ${start + at}`])
    const full = await write(prompt(...texts(257)))
    expect(Object.keys(await filesOf(full))).to.have.length(257)
    expect(JSON.stringify(await filesOf(full))).to.contain('\\"content\\": \\"text 256\\"')
    const next = await write(prompt(['user', 'first'], ...texts(257)), full)
    expect((await filesOf(next))['data.json']).to.contain('"content": "first"')
  })

  it('keeps what else lies in the folders, and goes round it', async () => {
    const own = { 'prompt/README.md': 'mine', 'prompt/user.md': 'mine, too', 'parameters/x/y.txt': 'also' }
    const begun = await withFiles([], own)
    const tree = await write(prompt(['user', 'hello']), begun)
    expect(await filesOf(tree)).to.include({ ...own, 'prompt/user-2.md': 'hello\n' })
    const without = await write({ uri: 'svc:custom:x:v0' }, tree)
    expect(await filesOf(without)).to.deep.equal({
      ...own,
      'data.json': '{\n  "uri": "svc:custom:x:v0"\n}\n',
    })
  })

  it('keeps files beside texts whose names are not UTF-8, each by itself', async () => {
    const names = [Buffer.from([0xff]), Buffer.from([0xfe])]
    const files = names.map((rawName, at) => ({
      ...writeFile(objects, '\ufffd', Buffer.from(`mine ${at}`)),
      rawName,
    }))
    const begun = [{ mode: '40000', name: 'prompt', oid: writeTree(objects, files) } as const]
    const tree = await write(prompt(['user', 'hello']), begun)
    const folder = tree.find(({ name }) => name === 'prompt')
    const kept = await readTree(objects, folder?.oid ?? '')
    expect(kept.map(({ rawName, name }) => rawName?.toString('hex') ?? name)).to.deep.equal([
      'user.md',
      'fe',
      'ff',
    ])
  })

  it('a file of the name of a folder stays, and texts go elsewhere, or inline', async () => {
    const one = await write(prompt(['user', 'hello']), await withFiles([], { prompt: 'mine' }))
    expect(Object.keys(await filesOf(one))[2]).to.equal('prompt')
    expect(Object.keys(await filesOf(one))[1]).to.match(/^parameters\/[0-9a-f]{10}\.md$/)
    const both = await write(prompt(['user', 'hello']), await withFiles([], { prompt: 'p', parameters: 'q' }))
    expect(await filesOf(both)).to.include({ prompt: 'p', parameters: 'q' })
    expect(await read(both)).to.deep.equal(prompt(['user', 'hello']))
    const upper = await write(prompt(['user', 'hello']), await withFiles([], { 'Prompt/x': 'mine' }))
    expect(Object.keys(await filesOf(upper)).some((path) => path.startsWith('prompt/'))).to.equal(false)
  })

  it('what a user calls like a marker is kept exactly', async () => {
    const data = {
      parameters: {
        a: { '@svc.file': 'prompt/system.md' },
        b: { '@svc.quote': { '@svc.file': 1 }, more: ['x\ny'] },
        c: { '@svc.format': 3 },
      },
      schemas: { inputs: { '@svc.file': { '@svc.quote': [] } } },
    }
    const tree = await write(data)
    expect((await filesOf(tree))['data.json']).to.contain('"@svc.quote": {')
    expect(await read(tree)).to.deep.equal(data)
  })

  it('the mark stands only where something is marked, and an inline payload is read as before', async () => {
    const tree = await write({ uri: 'svc:custom:x:v0', parameters: { n: 1 } })
    expect((await filesOf(tree))['data.json']).not.to.contain('@svc')
    const inline = await withFiles([], { 'data.json': '{"parameters":{"a":{"@svc.file":"prompt/x.md"}}}' })
    expect(await read(inline)).to.deep.equal({ parameters: { a: { '@svc.file': 'prompt/x.md' } } })
  })

  it('names are kept by the text: a message in front, another order, an edit, a removal', async () => {
    const edited = SYSTEM.replace('brief', 'very brief')
    let tree = await write(prompt(['system', SYSTEM], ['user', '{{q}}'], ['assistant', 'Paris.']))
    const before = await filesOf(tree)
    tree = await write(
      prompt(['user', 'New first.'], ['assistant', 'Paris.'], ['system', edited], ['user', '{{q}}']),
      tree,
    )
    const after = await filesOf(tree)
    expect(after).to.include({
      'prompt/user.md': before['prompt/user.md'] ?? '',
      'prompt/assistant.md': 'Paris.\n',
      'prompt/system.md': `${edited}\n`,
    })
    const added = Object.keys(after).filter((path) => !(path in before))
    expect(added).to.have.length(1)
    expect(added[0]).to.match(/^prompt\/user-[0-9a-f]{6}\.md$/)
    tree = await write(prompt(['user', '{{q}}']), tree)
    expect(Object.keys(await filesOf(tree))).to.deep.equal(['data.json', 'prompt/user.md'])
  })

  it('two branches that each add a message choose different files', async () => {
    const base = await write(prompt(['user', 'one']))
    const names = await Promise.all(
      ['mine', 'theirs'].map(async (text) =>
        Object.keys(await filesOf(await write(prompt(['user', 'one'], ['user', text]), base))).find((path) =>
          path.startsWith('prompt/user-'),
        ),
      ),
    )
    expect(new Set(names)).to.have.length(2)
  })

  it('a short text that has a file keeps it', async () => {
    const tree = await write({ parameters: { note: 'a\nb' } })
    const next = await write({ parameters: { note: 'a' } }, tree)
    expect(await filesOf(next)).to.include({ 'parameters/note.md': 'a\n' })
    const moved = await write({ parameters: { other: 'a' } }, next)
    expect(Object.keys(await filesOf(moved))).to.deep.equal(['data.json'])
  })

  it('data of before this format is taken up, and its texts are found by their names', async () => {
    const inline = await withFiles([], {
      'data.json': JSON.stringify(prompt(['system', SYSTEM], ['user', 'q'])),
    })
    expect(await read(inline)).to.deep.equal(prompt(['system', SYSTEM], ['user', 'q']))
    const next = await write(prompt(['user', 'new'], ['system', SYSTEM], ['user', 'q']), inline)
    expect(await filesOf(next)).to.include({ 'prompt/system.md': `${SYSTEM}\n`, 'prompt/user.md': 'q\n' })
  })

  it('a parent that is known is not read, unless its files are not those that are written onto', async () => {
    const data = prompt(['system', 'a\nb'], ['user', 'one'])
    const first = await workflowFamily.write(objects, data, [], DOCUMENT_LIMITS)
    const parent = { ...first.stored, entries: first.entries }
    const blobs: string[] = []
    const target = Object.assign(Object.create(objects) as NewObjects, {
      read: async (oid: string) => {
        const object = await objects.read(oid)
        if (object?.kind === 'blob') blobs.push(object.bytes.toString())
        return object
      },
      write: objects.write.bind(objects),
    })
    const edited = prompt(['system', 'a\nc'], ['user', 'one'])
    const next = await workflowFamily.write(target, edited, first.entries, DOCUMENT_LIMITS, { parent })
    expect(blobs).to.deep.equal([])
    expect(next).to.deep.equal(await workflowFamily.write(objects, edited, first.entries, DOCUMENT_LIMITS))
    const pushed = await withFiles(first.entries, { 'prompt/system.md': 'a\nx\n' })
    const over = await workflowFamily.write(target, data, pushed, DOCUMENT_LIMITS, { parent })
    expect(await filesOf(over.entries)).to.include({ 'prompt/system.md': 'a\nb\n' })
  })

  it('two markers of one file are two texts, and get a file each', async () => {
    const tree = await write(prompt(['user', 'same'], ['user', 'other']))
    const json = (await filesOf(tree))['data.json']?.replace('user-2.md', 'user.md') ?? ''
    const merged = await withFiles(tree, { 'data.json': json })
    expect(await read(merged)).to.deep.equal(prompt(['user', 'same'], ['user', 'same']))
    const next = await write(prompt(['user', 'same'], ['user', 'same']), merged)
    expect(Object.keys(await filesOf(next)).filter((path) => path !== 'prompt/user-2.md')).to.have.length(3)
  })

  for (const [what, files, words] of [
    ['a marker to nothing', { 'data.json': marked('prompt/none.md') }, ['prompt/none.md', 'no such file']],
    ['a climbing path', { 'data.json': marked('prompt/../../x.md') }, ['prompt/../../x.md']],
    ['a foreign path', { 'data.json': marked('README.md') }, ['README.md', 'below prompt/']],
    ['an absolute path', { 'data.json': marked('/prompt/a.md') }, ['/prompt/a.md']],
    [
      'a folder',
      { 'data.json': marked('prompt/a.md'), 'prompt/a.md/b': 'x' },
      ['prompt/a.md', 'no such file'],
    ],
    [
      'no UTF-8',
      { 'data.json': marked('prompt/a.md'), 'prompt/a.md': Buffer.from('caf\u00e9', 'latin1') },
      ['prompt/a.md', 'line 1, column 4', 'UTF-8'],
    ],
    [
      'a marker with another key',
      { 'data.json': '{"@svc.format":2,"parameters":{"a":{"@svc.file":"prompt/a.md","b":1}}}' },
      ['only key'],
    ],
    [
      'a quote of no object',
      { 'data.json': '{"@svc.format":2,"parameters":{"a":{"@svc.quote":[]}}}' },
      ['@svc.quote', 'only key'],
    ],
    ['a format of later servers', { 'data.json': '{"@svc.format":3,"uri":"x"}' }, ['format 3']],
  ] as const)
    it(`after a push: refuses ${what}, naming it`, async () => {
      const error: unknown = await read(await withFiles([], files)).catch((it: unknown) => it)
      expect(error).to.be.instanceOf(Error)
      for (const word of words) expect(String(error)).to.contain(word)
    })

  it('after a push: takes a mark with nothing below it, and refuses the 257th file', async () => {
    expect(await read(await withFiles([], { 'data.json': '{"@svc.format":2,"uri":"x"}' }))).to.deep.equal({
      uri: 'x',
    })
    const files = Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`prompt/t${at}.md`, `${at}`]))
    const list = Object.keys(files).map((path) => ({ '@svc.file': path }))
    const json = JSON.stringify({ '@svc.format': 2, parameters: { list } })
    const error: unknown = await read(await withFiles([], { ...files, 'data.json': json })).catch(
      (it: unknown) => it,
    )
    expect(String(error)).to.contain('257 files')
  })

  it('after a push: a file without a line feed at its end, with a byte order mark, reads as it is', async () => {
    const tree = await withFiles([], { 'data.json': marked('prompt/a.md'), 'prompt/a.md': '\ufeffhi' })
    expect(await read(tree)).to.deep.equal({ parameters: { a: '\ufeffhi' } })
    const two = await withFiles([], { 'data.json': marked('prompt/a.md'), 'prompt/a.md': 'hi\n\n' })
    expect(await read(two)).to.deep.equal({ parameters: { a: 'hi\n' } })
  })

  it('data → tree → data is the identity, whatever came before; the tree is a function of both', async function () {
    this.timeout(600_000)
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 4 }), async (versions) => {
        let tree: readonly TreeEntry[] = []
        for (const data of versions) {
          const next = await write(data, tree)
          expect(stringifyJson(await read(next))).to.equal(stringifyJson(data))
          expect(await write(data, tree)).to.deep.equal(next)
          // What is as it was is the same tree.
          expect(await write(data, next)).to.deep.equal(next)
          tree = next
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('inserting, moving and removing messages renames no untouched text', async function () {
    this.timeout(600_000)
    const texts = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 })
    const role = fc.constantFrom('system', 'user', 'assistant')
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(role),
        fc.nat(),
        fc.nat(),
        fc.string({ minLength: 7 }),
        async (said, roles, from, to, fresh) => {
          const messages = said.map((text, at): [string, string] => [
            roles[at % Math.max(1, roles.length)] ?? 'user',
            text,
          ])
          const before = await filesOf(await write(prompt(...messages)))
          const moved = [...messages]
          const [one] = moved.splice(from % moved.length, 1)
          if (one && from % 3 !== 0) moved.splice(to % (moved.length + 1), 0, one)
          moved.splice(to % (moved.length + 1), 0, ['user', fresh])
          const after = await filesOf(await write(prompt(...moved), await write(prompt(...messages))))
          for (const [path, text] of Object.entries(before)) {
            const isLeft = moved.some(([, other]) => `${other}\n` === text)
            if (path !== 'data.json' && isLeft) expect(after[path], path).to.equal(text)
          }
        },
      ),
      { numRuns: RUNS },
    )
  })
})

const objects = new NewObjects('0198c0de-1111-7aaa-8bbb-000000000001')

async function write(data: object, before: readonly TreeEntry[] = []): Promise<readonly TreeEntry[]> {
  const { entries } = await workflowFamily.write(objects, data, before, DOCUMENT_LIMITS)
  const carried = before.filter(({ name }) => !workflowFamily.ownsFile(name))
  return sorted([...carried, ...entries])
}

async function read(tree: readonly TreeEntry[]): Promise<JsonObject | undefined> {
  return (await workflowFamily.read(objects, tree))?.payload as JsonObject | undefined
}

/** The tree with these files put in, as a push does. */
async function withFiles(
  tree: readonly TreeEntry[],
  files: Readonly<Record<string, string | Buffer>>,
): Promise<readonly TreeEntry[]> {
  const changes = Object.entries(files).map(
    ([path, content]) => [path, writeFile(objects, 'x', Buffer.from(content as string))] as const,
  )
  return sorted(await changed(objects, tree, new Map(changes)))
}

/** Every file below the root, by path. */
async function filesOf(tree: readonly TreeEntry[], folder = ''): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const { mode, name, oid } of await readTree(objects, writeTree(objects, tree))) {
    if (mode === '40000')
      Object.assign(files, await filesOf(await readTree(objects, oid), `${folder}${name}/`))
    else files[`${folder}${name}`] = (await objects.read(oid))?.bytes.toString('utf8') ?? ''
  }
  return files
}

function sorted(entries: readonly TreeEntry[]): readonly TreeEntry[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function prompt(...messages: readonly (readonly [role: string, content: string])[]): JsonObject {
  return { parameters: { prompt: { messages: messages.map(([role, content]) => ({ role, content })) } } }
}

function marked(path: string): string {
  return JSON.stringify({ '@svc.format': 2, parameters: { a: { '@svc.file': path } } })
}

const key = fc.oneof(
  fc.constantFrom(
    'messages',
    'prompt',
    'content',
    'role',
    'text',
    'type',
    'url',
    'a',
    'A',
    'con',
    '@svc.file',
  ),
  fc.constantFrom('@svc.quote', '@svc.format', '__proto__', '0', '17', 'a/b', '~', ''),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
)
const text = fc.oneof(
  fc.string({ maxLength: 10 }),
  fc
    .array(fc.constantFrom('one', 'two', 'three', '', ' '), { maxLength: 6 })
    .map((lines) => lines.join('\n')),
  fc.constantFrom(
    'x'.repeat(121),
    'a\r\nb',
    '\u0000\n',
    '\ufeffx\n',
    '\n',
    '',
    'prompt/system.md',
    '\u0085\n',
  ),
)
const message = fc.record(
  {
    role: fc.oneof(fc.constantFrom('system', 'user', 'con', 'user-2', 'Ä'), fc.constant(7)),
    content: fc.oneof(
      text,
      fc.array(fc.record({ type: fc.constantFrom('text', 'image'), text }), { maxLength: 3 }),
    ),
    name: text,
  },
  { requiredKeys: [] },
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(message, { maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(objectOf),
  ),
}))
const hostile = fc
  .record({
    prompt: fc.array(message, { maxLength: 5 }),
    others: fc.array(fc.tuple(key, value), { maxLength: 4 }),
  })
  .map(({ prompt: messages, others }) =>
    // Parsed as a body is, so that odd keys are kept as the server keeps them.
    parseJson(
      stringifyJson({
        uri: 'svc:custom:x:v0',
        parameters: objectOf([...others, ['prompt', { messages }]] as [string, Json][]),
      } as JsonObject),
    ),
  ) as fc.Arbitrary<JsonObject>

function objectOf(members: readonly (readonly [string, unknown])[]): JsonObject {
  const unique = new Map(members as readonly (readonly [string, Json])[])
  return parseJson(
    `{${[...unique].map(([name, it]) => `${JSON.stringify(name)}:${stringifyJson(it)}`).join(',')}}`,
  ) as JsonObject
}
