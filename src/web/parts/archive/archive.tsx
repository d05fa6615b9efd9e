import { useWrite, useRoute } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { FormDialog } from '../dialog/dialog.tsx'
import { EnvironmentDot } from '../chips/chips.tsx'
import { Failure, Skeleton } from '../states/states.tsx'
import styles from './archive.module.css'

/** Marks archived items in a list. */
export function ArchivedBadge() {
  return <span className={`pill warn ${styles.badge}`}>archived</span>
}

/** Brings something back from the archive. `isShort` hides the name, if it is beside the button. */
export function BringBack({ it, isShort = false }: { readonly it: Archivable; readonly isShort?: boolean }) {
  const { mutate, isPending, error } = useWrite(archiveRoute(it, 'unarchive'))
  return (
    <>
      <Button
        kind="quiet"
        needs="write"
        busy={isPending}
        title={`Bring ${fullNameOf(it)} back from the archive`}
        onClick={() => mutate({ path: { id: it.id } })}
      >
        Bring back <span className={isShort ? 'visually-hidden' : undefined}>{shortNameOf(it)}</span>
      </Button>
      {error && <Failure error={error} />}
    </>
  )
}

/** Tells on a page that its subject is archived, with a button that brings it back. */
export function ArchivedNote({ it }: { readonly it: Archivable }) {
  const { level, family, artifact, version } = it
  const name = fullNameOf(it)
  return (
    <div role="status" className={`notice ${styles.note}`}>
      <ArchivedBadge />
      <span>
        {level === 'revision'
          ? `Only v${version} is archived: it is left out of lists and search, and cannot be deployed. ${artifact} and its other versions are not.`
          : `${name.charAt(0).toUpperCase()}${name.slice(1)} is archived: it is left out of lists and search, and takes no ${family === 'environments' ? 'deployments; clients that ask it are still answered' : 'new versions or deployments'}.`}
      </span>
      <BringBack it={it} />
    </div>
  )
}

export interface ArchivedToggleProps {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  /** The number of archived items, if known. */
  readonly count?: number | undefined
}

/** Shows or hides archived items in a list. */
export function ArchivedToggle({ isOn, onChange, count }: ArchivedToggleProps) {
  return (
    <label className={styles.toggle}>
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
      Show archived{count === undefined ? '' : ` (${count.toLocaleString()})`}
    </label>
  )
}

/** Asks before something is archived, and tells what that hides and what keeps running. */
export function ArchiveDialog({ it, close }: { readonly it: Archivable; readonly close: () => void }) {
  const { mutateAsync } = useWrite(archiveRoute(it, 'archive'))
  return (
    <FormDialog
      title={`Archive ${fullNameOf(it)}?`}
      action={`Archive ${shortNameOf(it)}`}
      kind="danger"
      needs="write"
      submit={() => mutateAsync({ path: { id: it.id } })}
      close={close}
    >
      <p className="gap-below">{whatItHides(it)}</p>
      {it.family === 'environments' ? <RunningThere slug={it.artifact} /> : <Running it={it} />}
      <p>Nothing is deleted: links and clones keep working, and it can be brought back at any time.</p>
    </FormDialog>
  )
}

function whatItHides({ level, family, word, artifact, variant = '', version = 0 }: Archivable): string {
  if (family === 'environments') {
    return `${artifact} disappears from lists, menus, search and the board of deployments. Until you bring it back, nobody can deploy to it or take anything down.`
  }
  switch (level) {
    case 'artifact':
      return `${artifact} disappears from lists, menus and search, with all of its variants and versions. Until you bring it back, nobody can save or deploy a version of the ${word}.`
    case 'variant':
      return `${variant} disappears from lists and menus, and search no longer finds the versions that only ${variant} has. Until you bring it back, nobody can save or deploy a version of it. ${artifact} and its other variants stay.`
    case 'revision':
      return `Only v${version} disappears from lists and search, and cannot be deployed; ${artifact} and its other versions stay. If v${version} is the newest version of ${variant}, the previous version becomes the newest.`
  }
}

const MAX_DEPLOYMENTS_NAMED = 10

/** What the environment runs: its clients keep being served. */
function RunningThere({ slug }: { readonly slug: string }) {
  const { data, error } = useRoute('POST /deployments/query', {
    body: { deployment: { environment_ref: { slug } }, windowing: { limit: MAX_DEPLOYMENTS_NAMED } },
  })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Looking for what runs" lines={2} />
  if (data.deployments.length === 0) return <p className="gap-below">Nothing runs in it.</p>
  return (
    <>
      <p>Clients of {slug} keep getting what it runs:</p>
      <ul className={styles.runs}>
        {data.deployments.map(({ key, artifact, revision }) => (
          <li key={key}>
            {artifact?.slug ?? key} {revision && `v${revision.version}`}
          </li>
        ))}
        {data.windowing?.next !== undefined && <li>and more</li>}
      </ul>
    </>
  )
}

/** The environments that run it, and keep running it. */
function Running({ it }: { readonly it: Archivable }) {
  const { data, error } = useRoute('POST /deployments/query', {
    body: { deployment: { artifact_slug: it.artifact } },
  })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Looking for what runs" lines={2} />
  const running = data.deployments.filter((deployment) => deployment[it.level]?.id === it.id)
  if (running.length === 0) return <p className="gap-below">No environment runs it.</p>
  return (
    <>
      <p>Deployed versions keep running:</p>
      <ul className={styles.runs}>
        {running.map(({ key, environment, revision }) => (
          <li key={`${environment.slug} ${key}`}>
            <EnvironmentDot slug={environment.slug} /> runs v{revision?.version}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Something that can be archived. */
export interface Archivable {
  readonly level: 'artifact' | 'variant' | 'revision'
  readonly family: 'workflows' | 'testsets' | 'queries' | 'environments'
  readonly id: string
  /** The slug of its artifact. */
  readonly artifact: string
  /** What users call its artifact: prompt, testset. */
  readonly word: string
  /** The slug of the variant, unless it is an artifact. */
  readonly variant?: string | undefined
  /** Only for a revision. */
  readonly version?: number | undefined
}

/** An artifact as a whole. */
export function archivableArtifact(
  family: Archivable['family'],
  word: string,
  { id, slug }: { readonly id: string; readonly slug: string },
): Archivable {
  return { level: 'artifact', family, id, artifact: slug, word }
}

/** The name on the button: `support-bot`, `warmer`, `v3`. */
function shortNameOf({ level, artifact, variant = '', version }: Archivable): string {
  return level === 'artifact' ? artifact : level === 'variant' ? variant : `v${version}`
}

/** The full name: `the prompt support-bot`, `the variant warmer`, `version 3 of warmer`. */
export function fullNameOf({ level, word, artifact, variant = '', version }: Archivable): string {
  if (level === 'artifact') return `the ${word} ${artifact}`
  return level === 'variant' ? `the variant ${variant}` : `version ${version} of ${variant}`
}

type Action = 'archive' | 'unarchive'

/** The route for it. All families and levels have one of the same shape. */
function archiveRoute({ family, level }: Archivable, action: Action) {
  const below = { artifact: '', variant: '/variants', revision: '/revisions' }[level]
  return `POST /${family}${below}/{id}/${action}` as `POST /workflows/{id}/${Action}`
}
