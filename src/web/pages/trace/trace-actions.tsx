import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import type { TraceSpan } from '../../parts/waterfall/span-tree.ts'
import { places } from '../../shell/places.ts'
import { ranOf } from '../../parts/waterfall/span-data.ts'
import styles from './trace.module.css'

/** What can be done with a trace: run its input again, see the ones before, remove it. */
export function TraceActions({ id, root }: { readonly id: string; readonly root: TraceSpan }) {
  const [isAsking, setAsking] = useState(false)
  const cache = useQueryClient()
  const { mutateAsync, error, isPending } = useMutation({
    mutationFn: () => call('DELETE /traces/{id}', { path: { id } }),
  })
  const navigate = useNavigate()
  const ran = ranOf(root)
  async function remove(): Promise<void> {
    await mutateAsync()
    // The trace itself is not asked for again: its page is left.
    await navigate({ to: places.traces() })
    await cache.invalidateQueries({ queryKey: ['POST /traces/query'] })
  }
  return (
    <>
      {ran && (
        <Link
          className={styles.action}
          to={places.traces()}
          search={{ artifact: ran.slug, before: root.start_time } as never}
        >
          Same prompt before
        </Link>
      )}
      <Button kind="danger" needs="write" onClick={() => setAsking(true)}>
        Delete …
      </Button>
      {ran && (
        <Link className={styles.primary} to={places.run(ran.slug)} search={{ trace: id } as never}>
          Run with this input
        </Link>
      )}
      {isAsking && (
        <Modal
          open
          close={() => setAsking(false)}
          title="Delete this trace?"
          actions={
            <Button
              kind="danger"
              needs="write"
              busy={isPending}
              onClick={() => void remove().catch(() => undefined)}
            >
              Delete the trace for good
            </Button>
          }
        >
          {error !== null && <Failure error={error} />}
          <p>
            All its spans go, with their inputs and outputs, and nothing brings them back. An evaluation keeps
            its results, and its link to this trace leads nowhere.
          </p>
        </Modal>
      )}
    </>
  )
}
