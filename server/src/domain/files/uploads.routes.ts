import { Media, MediaUpload } from '@parley/contract/media'
import { uploadRoute } from '../../http/route.ts'
import { saveUpload } from './uploads.ts'

export const uploadRoutes = [
  uploadRoute({
    method: 'POST',
    path: '/v1/media',
    scope: 'messages:send',
    summary: 'Upload a file',
    description:
      'Stores a file of up to 100 MB (100,000,000 bytes) for 30 days. Use its `id` as `image.id`, `video.id` and so on in ' +
      '`POST /v1/messages`, as often as you like. Parley uploads the file to WhatsApp once for each number that sends it. ' +
      'WhatsApp accepts less for some types, such as 5 MB for images and 16 MB for videos. Sending a larger file returns 400.',
    tag: 'Media',
    body: MediaUpload,
    reply: Media,
    status: 201,
    handle: ({ db, clock, caller, settings }, { body }) =>
      saveUpload({ db, clock, workspaceId: caller.workspaceId, maxStoredBytes: settings.mediaBytesPerWorkspace }, body),
  }),
]
