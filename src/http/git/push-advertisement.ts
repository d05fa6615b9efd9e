import type { ArtifactView } from '../../versioning/artifacts/artifact-view.ts'
import { FLUSH, pktLine } from './pkt-line.ts'

/**
 * What a client is told before it pushes (gitprotocol-http(5), gitprotocol-pack(5)): branches and tags, which are all that can
 * be pushed, and what we understand. `delete-refs` is among it so that a deletion is refused by a sentence of ours.
 */
export function pushAdvertisement({ source }: ArtifactView): Buffer {
  const refs = [...source.refs.refs]
    .filter(([ref]) => ref.startsWith('refs/heads/') || ref.startsWith('refs/tags/'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const [first = ['capabilities^{}', '0'.repeat(40)], ...others] = refs
  return Buffer.concat([
    pktLine('# service=git-receive-pack\n'),
    FLUSH,
    pktLine(`${first[1]} ${first[0]}\0${CAPABILITIES.join(' ')}\n`),
    ...others.map(([ref, oid]) => pktLine(`${oid} ${ref}\n`)),
    FLUSH,
  ])
}

const CAPABILITIES = [
  'report-status',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'object-format=sha1',
  'agent=branchpoint',
]
