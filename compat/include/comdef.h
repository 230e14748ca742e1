/* SPDX-License-Identifier: MIT */
/* comdef.h - _com_error, what C++ code throws for an HRESULT. There is no IErrorInfo here, and no _bstr_t. */
#ifndef WINCOMPAT_COMDEF_H
#define WINCOMPAT_COMDEF_H

#include <wincompat/base.h>
#include <wincompat/com.h>

#ifdef __cplusplus

struct IErrorInfo;

class _com_error
{
  public:
    _com_error(HRESULT hr, IErrorInfo * = NULL, bool = false) noexcept
        : m_hresult(hr), m_message(NULL)
    {
    }
    _com_error(const _com_error &that) noexcept : m_hresult(that.m_hresult), m_message(NULL)
    {
    }
    virtual ~_com_error() noexcept
    {
        LocalFree(m_message);
    }
    _com_error &operator=(const _com_error &that) noexcept
    {
        if (this != &that) {
            LocalFree(m_message);
            m_message = NULL;
            m_hresult = that.m_hresult;
        }
        return *this;
    }
    HRESULT Error() const noexcept
    {
        return m_hresult;
    }
    IErrorInfo *ErrorInfo() const noexcept
    {
        return NULL;
    }
    /* Of an HRESULT that stands for an error number of a program's interface; 0: it stands for none. */
    WORD WCode() const noexcept
    {
        return HRESULTToWCode(m_hresult);
    }
    static WORD HRESULTToWCode(HRESULT hr) noexcept
    {
        const ULONG first = 0x80040200u;
        return (ULONG)hr >= first && (ULONG)hr <= 0x8004FFFFu ? (WORD)((ULONG)hr - first) : 0;
    }
    static HRESULT WCodeToHRESULT(WORD code) noexcept
    {
        return (HRESULT)(code >= 0xFE00 ? 0x8004FFFFu : 0x80040200u + code);
    }
    /* The system's text, without a line end; stays until the object goes. */
    const TCHAR *ErrorMessage() const noexcept
    {
        if (m_message)
            return m_message;
        DWORD length = FormatMessage(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM |
                                         FORMAT_MESSAGE_IGNORE_INSERTS,
            NULL, (DWORD)m_hresult, 0, reinterpret_cast<TCHAR *>(&m_message), 0, NULL);
        while (length && (m_message[length - 1] == '\n' || m_message[length - 1] == '\r'))
            m_message[--length] = 0;
        if (!m_message && (m_message = (TCHAR *)LocalAlloc(LPTR, 32 * sizeof(TCHAR)))) {
            if (WCode())
                wsprintf(m_message, TEXT("IDispatch error #%d"), (int)WCode());
            else
                wsprintf(m_message, TEXT("Unknown error 0x%0lX"), m_hresult);
        }
        return m_message;
    }

  private:
    HRESULT m_hresult;
    mutable TCHAR *m_message;
};

#if __cpp_exceptions
inline void _com_raise_error(HRESULT hr, IErrorInfo *information = NULL)
{
    throw _com_error(hr, information);
}
inline void _com_issue_error(HRESULT hr)
{
    throw _com_error(hr);
}
namespace _com_util
{
inline void CheckError(HRESULT hr)
{
    if (FAILED(hr))
        _com_issue_error(hr);
}
}
#endif

#endif
#endif
