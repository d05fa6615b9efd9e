import { expect } from 'chai'
import { applyPatch } from 'rfc6902'
import type { SurfaceClient } from './surface-client.ts'

/** The diff of two documents (interface 6.1): an RFC 6902 patch, and a text diff of each file that changed. */
export function describeDocumentDiff(client: SurfaceClient): void {
  const { singular, family } = client.surface
  const { documents, files: payloadFiles, free } = family
  const pathsOf = (files: readonly { readonly path: string }[]) => files.map(({ path }) => path)

  // interface 6.1
  it('the patch turns the payload of base into that of head, and back', async () => {
    const { variantId } = await client.made(0)
    const [first, second] = documents ?? expect.fail(`${family.folder} have no patches`)
    const base = await client.committed(variantId, { data: first })
    const head = await client.committed(variantId, { data: second })
    for (const [from, to, before, after] of [
      [base, head, first, second],
      [head, base, second, first],
    ]) {
      const { patch } = await client.diff({ id: from.id }, { id: to.id })
      const copy = structuredClone(before)
      expect(applyPatch(copy, patch)).to.satisfy((results: unknown[]) => results.every((it) => it === null))
      expect(copy).to.deep.equal(after)
    }
  })

  // interface 6.1
  it('a file that changed has a unified diff, the same as git’s', async () => {
    const { slug, variantId } = await client.made(0)
    const marks = Array.from({ length: 30 }, (_, n) => `line_${n}`)
    await client.committed(variantId, client.payload(...marks))
    await client.committed(variantId, client.payload(...marks.with(15, 'line_other')))
    const { files } = await client.diff({ slug, version: 1 }, { slug, version: 2 })
    expect(pathsOf(files)).to.deep.equal(payloadFiles)
    expect(hunks(files[0].diff)).to.equal(hunks(client.git(slug, 'diff', `${slug}~1`, slug)))
  })

  it('is of the whole document from a revision without a payload', async () => {
    const one = await client.made(1)
    const empty = await client.made(0)
    const seed = await client.committed(empty.variantId, {})
    const from = await client.diff({ id: seed.id }, { id: one.revisions[0].id })
    expect(from.patch).to.have.length.greaterThan(0)
    expect(pathsOf(from.files)).to.deep.equal(payloadFiles)
    expect(from.files[0].diff).to.include('/dev/null')
  })

  if (!free.takesAnyValue) return
  it('numbers are exact in the patch', async () => {
    const { slug, variantId } = await client.made(0)
    for (const object of ['{"n":1}', '{"n":1e400}']) {
      const fields = `"variant_id":"${variantId}","data":${free.data(object)}`
      await client.post('/revisions/commit', `{"${singular}_revision":{${fields}}}`)
    }
    const { text } = await client.post('/revisions/diff', {
      base: { slug, version: 1 },
      head: { slug, version: 2 },
    })
    expect(text).to.include('"value":1e400')
  })
}

/** A unified diff from its first hunk on, without the line that git shows behind a hunk's place. */
export function hunks(diff: string): string {
  return diff
    .slice(diff.indexOf('@@'))
    .replaceAll(/^(@@ .* @@).*$/gm, '$1')
    .trimEnd()
}
