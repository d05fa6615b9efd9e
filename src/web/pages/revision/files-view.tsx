import { Link, useSearch } from '@tanstack/react-router'
import { FileText } from 'lucide-react'
import { addressOf } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { CodeLines } from '../../parts/code/code-lines.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import styles from './revision.module.css'
import type { Revision } from './use-revision.ts'

/** Files past these are in the clone. */
const MOST = 300
/** Longer files are not drawn, but are there to be opened. */
const LONGEST = 2_000_000

/** The files of the revision as they lie in git, and what one of them holds. */
export function FilesView({ revision: { id } }: { readonly revision: Revision }) {
  const { file } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const { data, error } = useRoute(
    'GET /workflows/revisions/{id}/files',
    { path: { id }, query: {} },
    { immutable: true },
  )
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Loading the files" />
  const open = data.files.find(({ path }) => path === file) ?? data.files[0]
  return (
    <div className={styles.files}>
      <nav aria-label="Files">
        <ul>
          {data.files.slice(0, MOST).map(({ path, size }) => (
            <li key={path}>
              <Link
                to="."
                search={((kept: object) => ({ ...kept, file: path })) as never}
                aria-current={path === open?.path ? 'page' : undefined}
              >
                <FileText size={14} aria-hidden />
                <bdi>{path}</bdi>
                <span className={styles.size}>{bytes(size)}</span>
              </Link>
            </li>
          ))}
        </ul>
        {(data.windowing || data.files.length > MOST) && (
          <p className={styles.muted}>There are more: clone to see them all.</p>
        )}
      </nav>
      {open && <OneFile key={open.path} id={id} path={open.path} size={open.size} />}
    </div>
  )
}

function OneFile({ id, path, size }: { readonly id: string; readonly path: string; readonly size: number }) {
  const ask = { path: { id, path } }
  const isShort = size <= LONGEST
  const { data, error } = useRoute('GET /workflows/revisions/{id}/files/{path}', ask, {
    enabled: isShort,
    immutable: true,
  })
  const isBinary = typeof data === 'string' && /\0|\uFFFD/.test(data.slice(0, 100_000))
  return (
    <section aria-label={path} className={styles.file}>
      <header>
        <h3>
          <bdi>{path}</bdi>
        </h3>
        <a href={addressOf('GET /workflows/revisions/{id}/files/{path}', ask)}>Open by itself</a>
      </header>
      {error && <Failure error={error} />}
      {!isShort && <p>It is {bytes(size)} long. Open it by itself, or clone.</p>}
      {isBinary && <p>It is no text: {bytes(size)}.</p>}
      {isShort && data === undefined && !error && <Skeleton label={`Loading ${path}`} />}
      {typeof data === 'string' && !isBinary && <CodeLines label={path} text={data} />}
    </section>
  )
}

function bytes(size: number): string {
  if (size < 1024) return `${size} B`
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KB`
  return `${(size / 1024 / 1024).toFixed(1)} MB`
}
