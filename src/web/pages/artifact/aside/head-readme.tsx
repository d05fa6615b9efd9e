import { lazy, Suspense } from 'react'
import { useRoute } from '../../../api/use-route.ts'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import styles from '../artifact.module.css'

const Markdown = lazy(() => import('../../../parts/markdown/markdown.tsx'))

/** Longer ones are read in their own page of files. */
const LONGEST = 200_000

/** The README that the default variant's head has, if it has one. */
export function HeadReadme({ slug }: { readonly slug: string }) {
  const head = useRoute('POST /workflows/revisions/log', {
    body: { workflow_ref: { slug }, depth: 1 },
  })
  const id = head.data?.workflow_revisions[0]?.id
  const files = useRoute(
    'GET /workflows/revisions/{id}/files',
    { path: { id: id ?? '' }, query: {} },
    { enabled: id !== undefined, immutable: true },
  )
  const readme = files.data?.files.find(({ path }) => /^readme(?:\.(?:md|markdown|txt))?$/i.test(path))
  const isShort = readme !== undefined && readme.size <= LONGEST
  const text = useRoute(
    'GET /workflows/revisions/{id}/files/{path}',
    { path: { id: id ?? '', path: readme?.path ?? '' } },
    { enabled: isShort, immutable: true },
  )
  if (!readme) return null
  return (
    <section aria-label={readme.path}>
      <h2>{readme.path}</h2>
      {!isShort && (
        <p className={styles.muted}>It is {readme.size.toLocaleString()} bytes long: clone to read it.</p>
      )}
      {isShort && text.data === undefined && <Skeleton label="Loading the README" lines={4} />}
      {typeof text.data === 'string' && (
        <Suspense fallback={<Skeleton label="Loading the README" lines={4} />}>
          <Markdown text={text.data} />
        </Suspense>
      )}
    </section>
  )
}
