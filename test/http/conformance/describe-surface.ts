import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { hastyFs } from '../../support/disk/hasty-fs.ts'
import { describeArchiving } from './describe-archiving.ts'
import { describeArtifacts } from './describe-artifacts.ts'
import { describeCommits } from './describe-commits.ts'
import { describeDiff } from './describe-diff.ts'
import { describeDocumentDiff } from './describe-document-diff.ts'
import { describeEntityTags } from './describe-entity-tags.ts'
import { describeExactJson } from './describe-exact-json.ts'
import { describeExactMeta } from './describe-exact-meta.ts'
import { describeFork } from './describe-fork.ts'
import { describeLog } from './describe-log.ts'
import { describeParentReferences } from './describe-parent-references.ts'
import { describePayloads } from './describe-payloads.ts'
import { describeParents } from './describe-parents.ts'
import { describeQueries } from './describe-queries.ts'
import { describeQueryStrings } from './describe-query-strings.ts'
import { describeRetrieval } from './describe-retrieval.ts'
import { describeRoleFields } from './describe-role-fields.ts'
import { describeScripts } from './describe-scripts.ts'
import { describeSimple } from './describe-simple.ts'
import { describeSlugsInPaths } from './describe-slugs-in-paths.ts'
import { describeVariants } from './describe-variants.ts'
import { describeWindowing } from './describe-windowing.ts'
import { SurfaceClient } from './surface-client.ts'
import type { TestedSurface } from './tested-surface.ts'
import { siblingsOf } from './tested-surface.ts'
import { workflows } from './tested-family.ts'

/**
 * All that is promised of every surface, asked of one: a server of its own, and one block a subject. Of a family that several surfaces show,
 * the first is asked everything and the others only what is about their words; test/recorded holds the answers of all of them.
 */
export function describeSurface(surface: TestedSurface): void {
  describe(surface.path, () => {
    let service: RunningService | undefined
    before(async () => {
      service = await startService({ fs: hastyFs })
    })
    after(() => service?.stop())

    const client = new SurfaceClient(surface, () => {
      if (!service) throw new Error('the service has not started yet')
      return service
    })
    for (const [subject, describeSubject] of subjectsOf(surface)) {
      describe(`${surface.path}: ${subject}`, () => describeSubject(client))
    }
    if (siblingsOf(surface)[0] === surface)
      describe(`${surface.path}: windowing`, () => describeWindowing(surface))
  })
}

type Subject = readonly [string, (client: SurfaceClient) => void]

/** Those that list whole projects come first, while there is little to list. */
const subjects: readonly Subject[] = [
  ['queries', describeQueries],
  ['query strings', describeQueryStrings],
  ['parents', describeParents],
  ['role fields', describeRoleFields],
  ['archiving', describeArchiving],
  ['artifacts', describeArtifacts],
  ['variants', describeVariants],
  ['commits', describeCommits],
  ['retrieval', describeRetrieval],
  ['entity tags', describeEntityTags],
  ['log', describeLog],
  ['fork', describeFork],
  ['exact meta', describeExactMeta],
  ['diff', describeDiff],
  ['simple', describeSimple],
  ['slugs in paths', describeSlugsInPaths],
  ['parent references', describeParentReferences],
]

/** What makes sense only where a payload is one JSON document. */
const ofDocuments: readonly Subject[] = [
  ['exact JSON', describeExactJson],
  ['diff of documents', describeDocumentDiff],
]

/** What workflows have of their own: handlers. */
const ofWorkflows: readonly Subject[] = [
  ['payloads', describePayloads],
  ['scripts', describeScripts],
]

/** Those that are about the words in which a surface asks and answers. */
const ofWords: readonly Subject[] = [
  ['query strings', describeQueryStrings],
  ['parents', describeParents],
  ['role fields', describeRoleFields],
  ['simple', describeSimple],
  ['parent references', describeParentReferences],
]

function subjectsOf(surface: TestedSurface): readonly Subject[] {
  const { family } = surface
  if (siblingsOf(surface)[0] !== surface) return ofWords
  return [
    ...subjects,
    ...(family.payload === 'document' ? ofDocuments : []),
    ...(family === workflows ? ofWorkflows : []),
  ]
}
