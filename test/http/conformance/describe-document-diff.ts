import { expect } from 'chai'
import { applyPatch } from 'rfc6902'
import type { SurfaceClient } from './surface-client.ts'

/** The diff of two documents (ruling 3.16): an RFC 6902 patch, and a text diff of each file that changed. */
export function describeDocumentDiff(client: SurfaceClient): void {
  it('the patch turns the payload of base into that of head, and back', async () => {
    const { variantId } = await client.made(0)
    const first = {
      parameters: { a: 1, list: [1, 2, 3, { k: 'v' }], 'x/y~z': true },
      script: 'one\n',
      runtime: 'python',
    }
    const second = { parameters: { b: [null], list: [2, 3, { k: 'w' }, 4] }, uri: 'user:custom:mine:v1' }
    const [base, head] = [
      await client.committed(variantId, { data: first }),
      await client.committed(variantId, { data: second }),
    ]
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

  it('each file that changed has a unified diff that git apply takes', async () => {
    const { slug, variantId } = await client.made(0)
    const script = Array.from({ length: 30 }, (_, n) => `line_${n} = ${n}\n`).join('')
    const data = { script, runtime: 'python', parameters: { n: 1 } }
    await client.committed(variantId, { data })
    await client.committed(variantId, {
      data: { ...data, script: script.replace('line_15 = 15', 'line_15 = 0') },
    })
    const { files } = await client.diff({ slug, version: 1 }, { slug, version: 2 })
    expect(files.map(({ path }: { path: string }) => path)).to.deep.equal(['script.py'])
    const hunks = (text: string) => text.slice(text.indexOf('@@')).replace(/^(@@ .* @@).*$/m, '$1')
    const ofGit = client.git(slug, 'diff', `${slug}~1`, slug)
    expect(hunks(files[0].diff).trimEnd()).to.equal(hunks(ofGit).trimEnd())
  })

  it('files that come or go are diffed against nothing', async () => {
    const { slug, variantId } = await client.made(0)
    await client.committed(variantId, { data: { parameters: {} } })
    await client.committed(variantId, { data: { parameters: {}, script: 'x = 1\n', runtime: 'python' } })
    const { files } = await client.diff({ slug, version: 1 }, { slug, version: 2 })
    const script = files.find(({ path }: { path: string }) => path === 'script.py')
    expect(script.diff).to.include('/dev/null').and.to.include('+x = 1')
  })

  it('is of the whole document from a revision without a payload', async () => {
    const one = await client.made(1)
    const empty = await client.made(0)
    const seed = await client.committed(empty.variantId, {})
    const from = await client.diff({ id: seed.id }, { id: one.revisions[0].id })
    expect(from.patch).to.have.length.greaterThan(0)
    expect(from.files.map(({ path }: { path: string }) => path)).to.deep.equal(['data.json'])
  })

  it('numbers are exact in the patch', async () => {
    const { slug, variantId } = await client.made(1)
    const body = `{"${client.surface.singular}_revision":{"variant_id":"${variantId}","data":{"parameters":{"n":1e400}}}}`
    await client.post('/revisions/commit', body)
    const { text } = await client.post('/revisions/diff', {
      base: { slug, version: 1 },
      head: { slug, version: 2 },
    })
    expect(text).to.include('"value":1e400')
  })
}
