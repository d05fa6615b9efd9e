import { expect } from 'chai'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { compareReaders, compareSample } from '../../../src/registry/verify/second-reader.ts'
import { encodeTree } from '../../../src/git/objects/object.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { commitOn } from '../../support/git/commit-on.ts'
import { memoryRegistry, newVariant } from '../memory-registry.ts'

describe('the second reader, of a store in memory', () => {
  let fs: Fs
  let repository: Repository

  beforeEach(async () => {
    fs = memoryFs()
    const registry = await memoryRegistry(fs)
    const { artifact } = await newVariant(registry, workflowFamily, 'bot')
    repository = artifact.repository
  })

  it('finds nothing in a sound repository', async () => {
    expect(await compareReaders(repository)).to.deep.equal([])
  })

  it('names object and ref where our reader answers other bytes, or none', async () => {
    const { objects, path } = repository
    const wrong = Object.create(objects, {
      read: {
        value: async (oid: string) => {
          const object = await objects.read(oid)
          return object?.kind === 'commit' ? { ...object, bytes: Buffer.from('fooled') } : undefined
        },
      },
    })
    const sentences = (await compareReaders({ fs, path, objects: wrong })).map(({ sentence }) => sentence)
    expect(sentences[0]).to.match(/object [0-9a-f]{40} of refs\/\S+ has other bytes to us than to it/)
    expect(sentences.join('\n')).to.match(/object [0-9a-f]{40} of refs\/\S+ is absent to us/)
  })

  it('reads a sample, which finds nothing in a sound repository, and names a file of which our reader answers other bytes', async () => {
    await repository.transact(async (transaction) => {
      const oid = transaction.write('blob', Buffer.from('a file'))
      const tree = transaction.write('tree', encodeTree([{ mode: '100644', name: 'file', oid }]))
      return commitOn(transaction, 'refs/heads/bot', 'one', tree)
    })
    expect(await compareSample(repository)).to.deep.equal([])
    const { fs: disk, objects, path } = repository
    const read = async (oid: string) => {
      const object = await objects.read(oid)
      return object?.kind === 'blob' ? { ...object, bytes: Buffer.from('fooled') } : object
    }
    const wrong = Object.create(objects, { read: { value: read } })
    const [first] = await compareSample({ fs: disk, path, objects: wrong })
    expect(first?.sentence).to.match(
      /object [0-9a-f]{40} of refs\/heads\/\S+ has other bytes to us than to it/,
    )
  })

  it('names what isomorphic-git cannot read', async () => {
    const { objects, path } = repository
    const folder = `${path}/objects/pack`
    for (const name of fs.readDir(folder) ?? []) fs.remove(`${folder}/${name}`)
    const [finding] = await compareReaders({ fs, path, objects })
    expect(finding?.kind).to.equal('damage')
    expect(finding?.sentence).to.match(
      /object [0-9a-f]{40} of refs\/\S+ cannot be read by it: Could not find/,
    )
  })
})
