import { useWrite } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { Failure } from '../states/failure.tsx'
import { type Archivable, archiveRoute, fullNameOf, shortNameOf } from './archivable.ts'
import styles from './archive.module.css'

/** Marks what is archived in a list. */
export function ArchivedBadge() {
  return <span className={styles.badge}>archived</span>
}

/** Brings something back from the archive. `isShort` shows no name, where it stands beside the button. */
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

/** Says on the page of something that it is archived, what that means, and brings it back. */
export function ArchivedNote({ it }: { readonly it: Archivable }) {
  const { level, family, artifact, version } = it
  const name = fullNameOf(it)
  return (
    <div role="status" className={styles.note}>
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
  /** How many there are, where that is known. */
  readonly count?: number | undefined
}

/** Whether a list shows what is archived, too. */
export function ArchivedToggle({ isOn, onChange, count }: ArchivedToggleProps) {
  return (
    <label className={styles.toggle}>
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
      Show archived{count === undefined ? '' : ` (${count.toLocaleString()})`}
    </label>
  )
}
