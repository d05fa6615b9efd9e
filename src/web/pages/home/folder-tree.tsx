import { Link } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'
import { useAddress } from '../../shell/places.ts'
import styles from './home.module.css'

interface Folder {
  readonly path: string
  readonly recursive: number
}

/** The folders of the project: the path to the chosen one (`?folder=`), and the tree, open where that lies. Nothing if there are none. */
export function FolderTree() {
  const { folder = '' } = useAddress()
  const { data } = useRoute('GET /folders', {}, { keepPrevious: true })
  const folders = data?.folders ?? []
  if (folders.length === 0 && folder === '') return null
  const parts = folder === '' ? [] : folder.split('/')
  return (
    <div className={styles.folders}>
      <nav aria-label="Folder">
        <ol>
          <li>
            <FolderLink path="">All folders</FolderLink>
          </li>
          {parts.map((part, at) => (
            <li key={at}>
              <FolderLink path={parts.slice(0, at + 1).join('/')}>{part}</FolderLink>
            </li>
          ))}
        </ol>
      </nav>
      <nav aria-label="Folders">
        <Branch folders={folders} under="" chosen={folder} />
      </nav>
    </div>
  )
}

interface BranchProps {
  readonly folders: readonly Folder[]
  /** The folder whose folders are shown. */
  readonly under: string
  readonly chosen: string
}

function Branch({ folders, under, chosen }: BranchProps) {
  const own = folders.filter(({ path }) => parentOf(path) === under)
  if (own.length === 0) return null
  return (
    <ul>
      {own.map(({ path, recursive }) => (
        <li key={path}>
          <FolderLink path={path}>{path.slice(under === '' ? 0 : under.length + 1)}</FolderLink>{' '}
          <span>{recursive.toLocaleString()}</span>
          {isWithin(chosen, path) && <Branch folders={folders} under={path} chosen={chosen} />}
        </li>
      ))}
    </ul>
  )
}

interface FolderLinkProps {
  readonly path: string
  readonly children: string
}

function FolderLink({ path, children }: FolderLinkProps) {
  return (
    <Link
      to="/"
      search={((kept: object) => ({ ...kept, folder: path === '' ? undefined : path })) as never}
      // The chosen one is the current page (`aria-current`), and no folder above it.
      activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
    >
      {children}
    </Link>
  )
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Folders are compared without case. */
function isWithin(folder: string, outer: string): boolean {
  return `${folder}/`.toLowerCase().startsWith(`${outer}/`.toLowerCase())
}
