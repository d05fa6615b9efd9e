import { join } from 'node:path'
import type { SeededRandom } from '../../../test/support/values/seeded-random.ts'
import { git } from '../../../test/support/git/git-program.ts'
import { answerOf, askServer } from './index-client.ts'

/** Each message and each text has one of them. */
export const WORDS = ['greeting', 'refund', '東京都', 'straße'] as const

/** What was made so far. */
export interface IndexHistory {
  /** Slugs of artifacts and their ids. */
  readonly artifacts: Map<string, string>
  readonly trashed: Map<string, string>
  steps: number
}

/** Does one random thing over REST, or with plain git in the repository; some are refused, such as a commit to what is archived. */
export async function takeStep(
  { url, storeDir }: { readonly url: string; readonly storeDir: string },
  history: IndexHistory,
  random: SeededRandom,
): Promise<void> {
  const number = ++history.steps
  const word = random.pick(WORDS)
  const data = { parameters: { text: `${word} ${number}` } }
  const slugs = [...history.artifacts.keys()]
  const what = slugs.length < 2 ? 'create' : random.pick(STEPS)
  if (what === 'create') {
    const slug = `bot-${number}`
    const tags = { team: random.pick(['support', 'sales']) }
    const { workflow } = await answerOf(url, 'POST', '/simple/workflows/', { workflow: { slug, tags, data } })
    history.artifacts.set(slug, workflow.id)
    return
  }
  const slug = random.pick(slugs)
  const id = history.artifacts.get(slug)
  const post = (path: string, body: object = {}) => askServer(url, 'POST', path, body)
  if (what === 'commit') {
    const sent = { workflow_ref: { slug }, message: `${word} over REST`, data }
    await post('/workflows/revisions/commit', { workflow_revision_commit: sent })
  } else if (what === 'fork') {
    const variant = { slug: `fork-${number}` }
    await post('/workflows/variants/fork', { workflow_variant: variant, workflow_ref: { slug } })
  } else if (what === 'edit') {
    // Not one of the words: older revisions are found by the names that the artifact had when they were taken in.
    const workflow = { id, name: `Number ${number}`, tags: { team: random.pick(['support', 'sales']) } }
    await askServer(url, 'PUT', `/workflows/${id}`, { workflow })
  } else if (what === 'archive') await post(`/workflows/${id}/${random.pick(['archive', 'unarchive'])}`)
  else if (what === 'trash') {
    if ((await askServer(url, 'DELETE', `/simple/workflows/${id}`)).status !== 200) return
    history.artifacts.delete(slug)
    history.trashed.set(slug, id ?? '')
  } else if (what === 'restore') {
    for (const [gone, trashed] of history.trashed) {
      if ((await post(`/simple/workflows/${trashed}/undelete`)).status !== 200) continue
      history.trashed.delete(gone)
      history.artifacts.set(gone, trashed)
    }
  } else if (what === 'git') {
    const gitdir = join(storeDir, 'default', 'workflows', `${slug}.git`)
    const head = git(gitdir, ['rev-parse', 'HEAD'])
    const made = git(gitdir, ['commit-tree', '-p', head, '-m', `${word} by git`, 'HEAD^{tree}'])
    git(gitdir, ['update-ref', random.pick(['HEAD', `refs/heads/git-${number}`]), made])
  } else if (what === 'reset') {
    const gitdir = join(storeDir, 'default', 'workflows', `${slug}.git`)
    const [first = ''] = git(gitdir, ['rev-list', '--max-parents=0', 'HEAD']).split('\n')
    git(gitdir, ['update-ref', 'HEAD', first])
  } else if (what === 'ask') {
    await post('/workflows/revisions/query')
    await post('/search', { query: word })
  }
}

const STEPS = [
  'create',
  'commit',
  'commit',
  'commit',
  'fork',
  'edit',
  'archive',
  'trash',
  'restore',
  'git',
  'git',
  'reset',
  'ask',
  'ask',
] as const
