import { useNavigate, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { ArchivedToggle } from '../../parts/archive/archived.tsx'
import { Button } from '../../parts/button/button.tsx'
import { endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { DeploySheet } from '../../parts/deploy/deploy-sheet.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { places } from '../../shell/places.ts'
import { Board } from './board.tsx'
import styles from './deployments.module.css'
import { DeployPicker } from './deploy-picker.tsx'
import { TakeDown } from './take-down.tsx'
import { useBoard } from './use-board.ts'

/**
 * What runs where: artifacts down, environments across. `?q=` narrows it, `?artifact=` puts one first, `?archived=` shows archived environments; `?deploy=`, `?to=` and `?what=` are
 * the sheet that deploys, `?down=` and `?to=` the question whether something is taken down.
 */
export default function DeploymentsPage() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const { q = '', artifact, deploy, to, what, key, down, archived } = search
  const navigate = useNavigate()
  const [words, setWords] = useState(q)
  const asked = useDeferredValue(words.trim())
  const [isPicking, setPicking] = useState(false)
  const board = useBoard(asked, artifact, archived !== undefined)
  const show = (more: Readonly<Record<string, string | undefined>>, replace = false): void =>
    void navigate({ to: places.environments(), search: { ...search, ...more }, replace })
  const nothing = { deploy: undefined, to: undefined, what: undefined, key: undefined, down: undefined }
  const isEmpty = board.rows.length === 0 && !board.isPending && !board.error
  return (
    <Page
      crumbs={[{ label: 'Home', to: '/' }, { label: 'Deployments' }]}
      fills
      actions={
        <Button kind="primary" needs={undefined} onClick={() => setPicking(true)}>
          Deploy…
        </Button>
      }
    >
      <div className={styles.filter}>
        <input
          type="search"
          dir="auto"
          aria-label="Show prompts whose name has"
          placeholder="Filter by name"
          value={words}
          onChange={({ target: { value } }) => {
            setWords(value)
            show({ q: value === '' ? undefined : value }, true)
          }}
        />
        <ArchivedToggle
          isOn={archived !== undefined}
          onChange={(isOn) => show({ archived: isOn ? '1' : undefined }, true)}
        />
      </div>
      {board.error && <Failure error={board.error} retry={board.refetch} />}
      {board.isPending && <Skeleton label="Loading what runs where" lines={10} />}
      {isEmpty && asked !== '' && <p role="status">Nothing that is deployed has “{asked}” in its name.</p>}
      {isEmpty && asked === '' && (
        <Empty
          action={<Button onClick={() => setPicking(true)}>Deploy a prompt</Button>}
          command={`curl "$BRANCHPOINT_URL/workflows/revisions/deploy" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' -d '{"workflow_revision_ref": {"slug": "my-prompt", "version": 1}, "environment_ref": {"slug": "production"}}'`}
        >
          Nothing is deployed yet. An environment says which version of a prompt runs where.
        </Empty>
      )}
      {board.rows.length > 0 && board.environments && (
        <Board
          rows={board.rows}
          environments={board.environments}
          hasMore={board.hasMore}
          loadMore={board.loadMore}
          deploy={(it) =>
            show({
              ...nothing,
              deploy: it.artifact,
              to: it.to,
              what: it.what && textOfEnd(it.what),
              key: it.key,
            })
          }
          takeDown={(it) => show({ ...nothing, down: it.key, to: it.to })}
        />
      )}
      {deploy !== undefined && (
        <DeploySheet
          artifact={deploy}
          to={to}
          deployKey={key}
          what={what === undefined ? undefined : endOf(what)}
          choose={(end) => show({ what: textOfEnd(end) }, true)}
          chooseTo={(slug) => show({ to: slug }, true)}
          close={() => show(nothing)}
        />
      )}
      {down !== undefined && to !== undefined && (
        <TakeDown deployKey={down} from={to} close={() => show(nothing)} />
      )}
      {isPicking && (
        <DeployPicker
          close={() => setPicking(false)}
          choose={(slug) => {
            setPicking(false)
            show({ ...nothing, artifact: slug, deploy: slug })
          }}
        />
      )}
    </Page>
  )
}
