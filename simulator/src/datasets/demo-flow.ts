import type { Json } from '../json.ts'

/** References to a value entered on this screen, and to one passed from the previous screen. */
const form = (name: string) => `$\{form.${name}}`
const data = (name: string) => `$\{data.${name}}`

/** A form with three screens. WhatsApp allows one picker per screen, so photos and documents have their own. */
export const demoFlow: Json = {
  version: '7.3',
  screens: [
    {
      id: 'DETAILS',
      title: 'About you',
      data: {},
      layout: {
        type: 'SingleColumnLayout',
        children: [
          { type: 'TextInput', name: 'full_name', label: 'Full name', 'input-type': 'text', required: true },
          { type: 'TextInput', name: 'email', label: 'Email', 'input-type': 'email', required: true },
          { type: 'TextArea', name: 'complaint', label: 'What brings you here?', required: false },
          {
            type: 'Footer',
            label: 'Next',
            'on-click-action': {
              name: 'navigate',
              next: { type: 'screen', name: 'PHOTOS' },
              payload: { full_name: form('full_name'), email: form('email'), complaint: form('complaint') },
            },
          },
        ],
      },
    },
    {
      id: 'PHOTOS',
      title: 'Photos',
      data: { full_name: { type: 'string' }, email: { type: 'string' }, complaint: { type: 'string' } },
      layout: {
        type: 'SingleColumnLayout',
        children: [
          {
            type: 'PhotoPicker',
            name: 'photos',
            label: 'Photos of the insurance card',
            'photo-source': 'camera_gallery',
            'min-uploaded-photos': 0,
            'max-uploaded-photos': 2,
          },
          {
            type: 'Footer',
            label: 'Next',
            'on-click-action': {
              name: 'navigate',
              next: { type: 'screen', name: 'DOCUMENTS' },
              payload: {
                full_name: data('full_name'),
                email: data('email'),
                complaint: data('complaint'),
                photos: form('photos'),
              },
            },
          },
        ],
      },
    },
    {
      id: 'DOCUMENTS',
      title: 'Documents',
      terminal: true,
      success: true,
      data: {
        full_name: { type: 'string' },
        email: { type: 'string' },
        complaint: { type: 'string' },
        photos: { type: 'array' },
      },
      layout: {
        type: 'SingleColumnLayout',
        children: [
          {
            type: 'DocumentPicker',
            name: 'documents',
            label: 'Referral or earlier results',
            'min-uploaded-documents': 0,
            'max-uploaded-documents': 3,
            'allowed-mime-types': ['application/pdf', 'image/jpeg'],
          },
          {
            type: 'Footer',
            label: 'Send',
            'on-click-action': {
              name: 'complete',
              payload: {
                full_name: data('full_name'),
                email: data('email'),
                complaint: data('complaint'),
                photos: data('photos'),
                documents: form('documents'),
              },
            },
          },
        ],
      },
    },
  ],
}
