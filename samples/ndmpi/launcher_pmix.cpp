// SPDX-License-Identifier: MIT
//
// launcher_pmix.cpp - a rank whose launcher speaks PMIx: Open MPI's mpirun, Slurm's srun --mpi=pmix. Needs libpmix when
// it is built.
#include "launcher_keys.h"

#ifdef NDMPI_PMIX
#include <pmix.h>

#include <string.h>

namespace ndmpi
{

namespace
{

class Pmix : public Keys
{
  public:
    Pmix();
    unsigned rank() const
    {
        return self_.rank;
    }
    unsigned size() const
    {
        return size_;
    }
    void put(const std::string &key, const std::string &value);
    void fence();
    std::string get(unsigned rank, const std::string &key);
    void finish()
    {
        good(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    }

  private:
    static void good(pmix_status_t status, const char *what)
    {
        if (status != PMIX_SUCCESS)
            fail("%s failed: %s", what, PMIx_Error_string(status));
    }
    pmix_proc_t of(pmix_rank_t rank) const
    {
        pmix_proc_t process = self_;
        process.rank = rank;
        return process;
    }

    pmix_proc_t self_;
    unsigned size_;
};

Pmix::Pmix()
{
    good(PMIx_Init(&self_, NULL, 0), "PMIx_Init");
    pmix_proc_t job = of(PMIX_RANK_WILDCARD);
    pmix_value_t *value;
    good(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "PMIx_Get of the job's size");
    size_ = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
}

void Pmix::put(const std::string &key, const std::string &text)
{
    pmix_value_t value;
    value.type = PMIX_STRING;
    value.data.string = const_cast<char *>(text.c_str());
    good(PMIx_Put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put");
}

void Pmix::fence()
{
    bool collect = true;
    pmix_info_t info;
    pmix_proc_t job = of(PMIX_RANK_WILDCARD);

    good(PMIx_Commit(), "PMIx_Commit");
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    good(PMIx_Fence(&job, 1, &info, 1), "PMIx_Fence");
}

std::string Pmix::get(unsigned rank, const std::string &key)
{
    pmix_proc_t process = of(rank);
    pmix_value_t *value;
    good(PMIx_Get(&process, key.c_str(), NULL, 0, &value), "PMIx_Get");
    if (value->type != PMIX_STRING)
        fail("PMIx_Get of %s: no text", key.c_str());
    std::string text = value->data.string;
    PMIX_VALUE_RELEASE(value);
    return text;
}

} // namespace

Launcher *launched_by_pmix(Place &place)
{
    if (variable("PMIX_NAMESPACE").empty())
        return NULL;
    take_settings(place);
    return launched_with_keys(new Pmix, place);
}

} // namespace ndmpi

#else

namespace ndmpi
{

Launcher *launched_by_pmix(Place &)
{
    if (!variable("PMIX_NAMESPACE").empty() && variable("PMI_FD").empty() &&
        variable(NDMPI_RANK).empty())
        fail("the launcher speaks PMIx, and this program was built without libpmix");
    return NULL;
}

} // namespace ndmpi
#endif
