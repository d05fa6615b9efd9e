import { expect } from 'chai'
import type { SurfaceClient } from './surface-client.ts'

/** JSON is never changed in silence (ruling 3.15): commit → answer → retrieve → git show, character by character. */
export function describeExactJson(client: SurfaceClient): void {
  const { singular } = client.surface

  const exact: readonly (readonly [string, string])[] = [
    ['a whole number past a double', '{"n":12345678901234567890}'],
    ['a fraction past a double', '{"n":0.1000000000000000055}'],
    ['exponents out of range', '{"n":1e400,"m":-1e-400,"z":-1E+400}'],
    ['what looks like zero and is not', '{"n":-0}'],
    ['integer-like keys in their order', '{"b":1,"10":2,"2":3,"a":4,"0":5}'],
    [
      '__proto__ and friends',
      '{"__proto__":{"x":1},"constructor":2,"toString":null,"hasOwnProperty":[],"prototype":{}}',
    ],
    ['an empty key', '{"":{"":""}}'],
    ['nulls and empties', '{"a":null,"b":"","c":[],"d":{},"e":[null,[null]]}'],
    ['every kind of character', '{"é":"\u{1f600} \\u0000\\u001f \\\\ \\" \u2028 \ufffd","\u{1f600}":1}'],
    ['all of it below an array', '{"list":[{"9":1e400,"1":{"__proto__":[12345678901234567890]}}]}'],
  ]
  for (const [name, parameters] of exact) {
    it(`${name}: ${parameters.length > 60 ? `${parameters.slice(0, 60)}…` : parameters}`, async () => {
      const { slug, variantId } = await client.made(0)
      const body = `{"${singular}_revision":{"variant_id":"${variantId}","data":{"parameters":${parameters}}}}`
      const committed = await client.post('/revisions/commit', body)
      const wanted = `"data":{"parameters":${parameters}}`
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
      const file = client.git(slug, 'show', `${slug}:data.json`)
      expect(withoutLayout(file)).to.equal(`{"parameters":${parameters}}`)
    })
  }

  it('data.json has two spaces an indent, the key order sent, and a line break at its end', async () => {
    const { slug, variantId } = await client.made(0)
    const data = { parameters: { z: [1, { y: 2 }], a: {} }, uri: 'user:custom:mine:v1' }
    await client.committed(variantId, { data })
    const size = Number(client.git(slug, 'cat-file', '-s', `${slug}:data.json`))
    const wanted = `${JSON.stringify(data, undefined, 2)}\n`
    expect(`${client.git(slug, 'show', `${slug}:data.json`)}\n`).to.equal(wanted)
    expect(size).to.equal(Buffer.byteLength(wanted))
  })

  it('1.0 may come back as 1', async () => {
    const { variantId } = await client.made(0)
    const body = `{"${singular}_revision":{"variant_id":"${variantId}","data":{"parameters":{"n":1.0,"m":1e2}}}}`
    const { data } = client.record(await client.post('/revisions/commit', body), '_revision')
    expect(data.parameters).to.deep.equal({ n: 1, m: 100 })
  })

  it('a delta keeps what it does not name as exact', async () => {
    const { variantId } = await client.made(0)
    const commit = (fields: string) =>
      client.post('/revisions/commit', `{"${singular}_revision":{"variant_id":"${variantId}",${fields}}}`)
    await commit('"data":{"parameters":{"2":1e400,"1":{"__proto__":0.1000000000000000055}}}')
    const { text } = await commit('"delta":{"set":{"parameters":{"1":{"constructor":12345678901234567890}}}}')
    expect(text).to.include(
      '"parameters":{"2":1e400,"1":{"__proto__":0.1000000000000000055,"constructor":12345678901234567890}}',
    )
  })
}

/** JSON text without the line breaks and spaces between its tokens. */
function withoutLayout(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
}
