import { expect } from 'chai'
import { hunks } from './describe-document-diff.ts'
import type { SurfaceClient } from './surface-client.ts'

/** The source of a custom handler, a file of its own in git (interface 7.7, 6.1, 15.5). */
export function describeScripts(client: SurfaceClient): void {
  // interface 7.7
  it('the file is named after the runtime', async () => {
    for (const [runtime, file] of [
      ['python', 'script.py'],
      ['typescript', 'script.ts'],
      ['javascript', 'script.js'],
    ] as const) {
      const { slug, variantId } = await client.made(0)
      const data = { uri: 'svc:custom:code:v0', script: 'a = 1\n\tb\n\n', runtime }
      const revision = await client.committed(variantId, { data })
      expect(revision.data.script).to.equal(data.script)
      expect(client.git(slug, 'cat-file', 'blob', `${slug}:${file}`)).to.equal(data.script.replace(/\n$/, ''))
    }
  })

  it('where it changed alone, it alone has a diff, the same as git’s', async () => {
    const { slug, variantId } = await client.made(0)
    const script = Array.from({ length: 30 }, (_, n) => `line_${n} = ${n}\n`).join('')
    const data = { script, runtime: 'python', parameters: { n: 1 } }
    await client.committed(variantId, { data })
    await client.committed(variantId, {
      data: { ...data, script: script.replace('line_15 = 15', 'line_15 = 0') },
    })
    const { files } = await client.diff({ slug, version: 1 }, { slug, version: 2 })
    expect(files.map(({ path }: { path: string }) => path)).to.deep.equal(['script.py'])
    expect(hunks(files[0].diff)).to.equal(hunks(client.git(slug, 'diff', `${slug}~1`, slug)))
  })

  it('where it comes or goes, it is diffed against nothing', async () => {
    const { slug, variantId } = await client.made(0)
    await client.committed(variantId, { data: { parameters: {} } })
    await client.committed(variantId, { data: { parameters: {}, script: 'x = 1\n', runtime: 'python' } })
    const { files } = await client.diff({ slug, version: 1 }, { slug, version: 2 })
    const script = files.find(({ path }: { path: string }) => path === 'script.py')
    expect(script.diff).to.include('/dev/null').and.to.include('+x = 1')
  })
}
