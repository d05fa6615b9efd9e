import { Copyable } from '../../parts/copy/copyable.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import type { Revision } from './use-revision.ts'

/** How to undo on a variant what the revision changed, or to make the same change on another one. */
export function CurlDialog({ revision, close }: { readonly revision: Revision; readonly close: () => void }) {
  const { id, workflow_slug: slug, variant_slug: variant } = revision
  const artifact = { slug }
  return (
    <Modal open close={close} title={`Revert or cherry-pick v${revision.version}`}>
      <p>
        The page does not do it yet. With <code>&quot;dry_run&quot;: true</code> it says what would come of
        it, and stores nothing.
      </p>
      <h3>Undo on {variant} what it changed</h3>
      <Copyable
        label="Revert"
        text={curl('revert', { revision: { id }, target: { variant: { slug: variant }, artifact } })}
      />
      <h3>Make the same change on another variant</h3>
      <Copyable
        label="Cherry-pick"
        text={curl('cherry-pick', {
          revision: { id },
          target: { variant: { slug: 'another-variant' }, artifact },
        })}
      />
    </Modal>
  )
}

function curl(action: string, body: object): string {
  return `curl "$BRANCHPOINT_URL/workflows/revisions/${action}" \\
  -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`
}
