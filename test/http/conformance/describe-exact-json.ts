import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'

/**
 * JSON is never changed in silence (interface 2.9): commit → answer → retrieve → git show, character by character, at the
 * place where a family's payloads are free.
 */
export function describeExactJson(client: SurfaceClient): void {
  const { singular, family } = client.surface
  const { free } = family

  /** A commit whose fields are text. */
  const commitText = (variantId: string, fields: string) =>
    client.post('/revisions/commit', `{"${singular}_revision":{"variant_id":"${variantId}",${fields}}}`)
  const fileAt = (slug: string) => `${slug}:${family.files[0] ?? ''}`

  const keys: readonly (readonly [string, string])[] = [
    ['integer-like keys in their order', '{"b":{},"10":{},"2":{},"a":{},"0":{}}'],
    [
      '__proto__ and friends as keys',
      '{"__proto__":{"__proto__":{}},"constructor":{},"toString":{},"hasOwnProperty":{},"prototype":{}}',
    ],
    ['an empty key', '{"":{"":{}}}'],
    [
      'every kind of character in keys',
      '{"é\u{1f600} \\u0000\\u001f \\\\ \\" \u2028 \ufffd":{"\u{1f600}":{}},".":{},"../x":{}}',
    ],
  ]
  const values: readonly (readonly [string, string])[] = [
    ['a whole number past a double', '{"n":12345678901234567890}'],
    ['a fraction past a double', '{"n":0.1000000000000000055}'],
    ['exponents out of range', '{"n":1e400,"m":-1e-400,"z":-1E+400}'],
    ['what looks like zero and is not', '{"n":-0}'],
    ['values under integer-like keys', '{"b":1,"10":2,"2":3,"a":4,"0":5}'],
    [
      'values under __proto__ and friends',
      '{"__proto__":{"x":1},"constructor":2,"toString":null,"hasOwnProperty":[],"prototype":{}}',
    ],
    ['nulls and empties', '{"a":null,"b":"","c":[],"d":{},"e":[null,[null]]}'],
    ['every kind of character', '{"é":"\u{1f600} \\u0000\\u001f \\\\ \\" \u2028 \ufffd","\u{1f600}":1}'],
    ['all of it below an array', '{"list":[{"9":1e400,"1":{"__proto__":[12345678901234567890]}}]}'],
  ]
  for (const [name, object] of free.takesAnyValue ? [...keys, ...values] : keys) {
    // interface 2.9
    it(`${name}: ${object.length > 60 ? `${object.slice(0, 60)}…` : object}`, async () => {
      const { slug, variantId } = await client.made(0)
      const committed = await commitText(variantId, `"data":${free.data(object)}`)
      const wanted = `"data":${free.data(object)}`
      expect(committed.status, committed.text).to.equal(200)
      expect(committed.text).to.include(wanted)
      const { id } = client.record(committed, '_revision')
      expect((await client.get(`/revisions/${id}`)).text).to.include(wanted)
      expect((await client.retrieve(client.wrap('_variant_ref', { id: variantId }))).text).to.include(wanted)
      const log = { ...client.wrap('', { variant_id: variantId }), include_data: true }
      expect((await client.post('/revisions/log', log)).text).to.include(wanted)
      expect(
        (await client.post('/revisions/query', client.wrap('_variant_refs', [{ id: variantId }]))).text,
      ).to.include(wanted)
      expect(withoutLayout(client.git(slug, 'show', fileAt(slug)))).to.equal(free.inFile(object))
    })
  }

  it('the file has two spaces an indent, the key order sent, and a line break at its end', async () => {
    const { slug, variantId } = await client.made(0)
    const object = free.takesAnyValue ? '{"z":[1,{"y":2}],"a":{}}' : '{"z":{"y":{}},"a":{}}'
    const { status, text } = await commitText(variantId, `"data":${free.data(object)}`)
    expect(status, text).to.equal(200)
    const size = Number(client.git(slug, 'cat-file', '-s', fileAt(slug)))
    const wanted = `${JSON.stringify(JSON.parse(free.inFile(object)), undefined, 2)}\n`
    expect(`${client.git(slug, 'show', fileAt(slug))}\n`).to.equal(wanted)
    expect(size).to.equal(Buffer.byteLength(wanted))
  })

  it('a delta keeps what it does not name as exact', async () => {
    const { variantId } = await client.made(0)
    const object = free.takesAnyValue
      ? '{"2":1e400,"1":{"__proto__":0.1000000000000000055}}'
      : '{"2":{},"1":{"__proto__":{}}}'
    await commitText(variantId, `"data":${free.data(object)}`)
    const { status, text } = await client.commit(variantId, { delta: free.deltaBeside })
    expect(status, text).to.equal(200)
    expect(text).to.include(`:${object.slice(0, -1)}`)
  })

  if (!free.takesAnyValue) return
  it('1.0 may come back as 1', async () => {
    const { variantId } = await client.made(0)
    const reply = await commitText(variantId, `"data":${free.data('{"n":1.0,"m":1e2}')}`)
    const wanted = JSON.parse(free.data('{"n":1,"m":100}'))
    expect(client.record(reply, '_revision').data).to.deep.equal(wanted)
  })
}

/** JSON text without the line breaks and spaces between its tokens. */
function withoutLayout(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
}
